// SPDX-License-Identifier: GPL-2.0
/*
 * Holds the memory of a process, as a kernel thread of vhost or of a USB gadget
 * does while it works for it, and drops it from a kernel thread. If the process has
 * ended meanwhile, that is the last reference, and its mappings are closed there.
 *
 *	insmod mm_holder.ko pid=N	take the memory of process N
 *	rmmod mm_holder			drop it; returns when that is done
 *
 * Without pid= it does nothing. For tests only.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

static int pid;
module_param(pid, int, 0);
MODULE_PARM_DESC(pid, "process whose memory is held");

static struct mm_struct *held;

static void drop(struct work_struct *work)
{
	mmput(held);
}

static DECLARE_WORK(drop_work, drop);

static int __init holder_init(void)
{
	struct task_struct *task;
	struct pid *number;

	if (!pid)
		return 0;
	number = find_get_pid(pid);
	task = get_pid_task(number, PIDTYPE_PID);
	put_pid(number);
	if (!task)
		return -ESRCH;
	held = get_task_mm(task);
	put_task_struct(task);
	return held ? 0 : -ESRCH;
}
module_init(holder_init);

static void __exit holder_exit(void)
{
	if (!held)
		return;
	schedule_work(&drop_work);
	flush_work(&drop_work);
}
module_exit(holder_exit);

MODULE_DESCRIPTION("Drops the memory of a process from a kernel thread");
MODULE_LICENSE("GPL");
