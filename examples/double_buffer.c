// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Two frames for a display: one is shown while the next is drawn. A display
 * controller reads a frame by its physical address, so each has to be in one piece;
 * and as every pixel is drawn, nobody needs them cleared.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pages.h"

#define WIDTH	800
#define HEIGHT	480
#define FRAMES	60

/* 5 bits of red, 6 of green, 5 of blue. */
#define PIXEL	unsigned short

#define FRAME_BYTES	(WIDTH * HEIGHT * sizeof(PIXEL))

static void draw(PIXEL *frame, unsigned int number)
{
	unsigned int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			frame[y * WIDTH + x] = (x + number) ^ (y - number);
}

/* Stands for the display controller: adds up what it reads. */
static unsigned int show(const PIXEL *frame)
{
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < WIDTH * HEIGHT; i++)
		sum = sum * 31 + frame[i];
	return sum;
}

int main(void)
{
	int fd = pages_open();
	PIXEL *frames[2];
	unsigned int shown = 0;
	unsigned int i;

	if (fd < 0) {
		perror(PAGES_PATH);
		return EXIT_FAILURE;
	}
	for (i = 0; i < 2; i++) {
		frames[i] = pages_map_uncleared(fd, FRAME_BYTES);
		if (!frames[i]) {
			perror("no memory for a frame");
			return EXIT_FAILURE;
		}
	}
	for (i = 0; i < FRAMES; i++) {
		draw(frames[i % 2], i);
		shown ^= show(frames[i % 2]);
	}
	printf("%d frames of %zu bytes shown, checksum %08x\n", FRAMES, FRAME_BYTES, shown);
	for (i = 0; i < 2; i++)
		pages_unmap(frames[i], FRAME_BYTES);
	pages_close(fd);
	return EXIT_SUCCESS;
}
