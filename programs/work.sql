-- SPDX-License-Identifier: GPL-2.0
-- 10^4 rows with an index, grouped, changed and rolled back. The answers are
-- worked out again by programs/workloads.py, with no database.
CREATE TABLE item (id INTEGER PRIMARY KEY, grp INTEGER, value INTEGER, note TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
INSERT INTO item SELECT i, i % 37, i * 7919 % 10007, 'note ' || i || ' of group ' || (i % 37) FROM n;
COMMIT;
CREATE INDEX item_value ON item (value);
SELECT count(*), sum(value), min(value), max(value) FROM item;
SELECT grp, count(*), sum(value), max(length(note)) FROM item GROUP BY grp ORDER BY grp;
SELECT id, note FROM item WHERE value BETWEEN 500 AND 520 ORDER BY value;
BEGIN;
DELETE FROM item WHERE id % 2 = 0;
SELECT count(*) FROM item;
ROLLBACK;
UPDATE item SET value = value + 1 WHERE grp = 5;
SELECT sum(value) FROM item WHERE grp = 5;
SELECT count(*) FROM item a JOIN item b ON b.value = a.value + 1 WHERE a.grp = 3;
SELECT length(group_concat(note, ',')) FROM item;
PRAGMA integrity_check;
