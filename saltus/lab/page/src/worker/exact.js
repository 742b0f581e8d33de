/**
 * Elementary functions with the same bits in every browser: a browser chooses the last digit of its own, so that a chaotic
 * motion would look different to each reader of a link. They come from FreeBSD's library by way of stdlib.
 */

import cos from '@stdlib/math-base-special-cos';
import exp from '@stdlib/math-base-special-exp';
import log from '@stdlib/math-base-special-ln';
import pow from '@stdlib/math-base-special-pow';
import sin from '@stdlib/math-base-special-sin';

export const EXACT = { sin, cos, exp, log, pow };
