/* SPDX-License-Identifier: Apache-2.0 */
/* palette.c: see palette.h. Shapes have about the area of the circle. */
#include "palette.h"

enum { COUNT = 8 };

static const char *const colours[COUNT] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                           "#56b4e9", "#f0e442", "#d55e00", "#8c8c8c"};

static const cbx_shape shapes[COUNT] = {
    {"circle", 0, {{0}}},
    {"square", 4, {{-.89f, -.89f}, {.89f, -.89f}, {.89f, .89f}, {-.89f, .89f}}},
    {"triangle", 3, {{0, -1.3f}, {1.2f, .85f}, {-1.2f, .85f}}},
    {"diamond", 4, {{0, -1.27f}, {1.27f, 0}, {0, 1.27f}, {-1.27f, 0}}},
    {"falling triangle", 3, {{0, 1.3f}, {-1.2f, -.85f}, {1.2f, -.85f}}},
    {"pentagon",
     5,
     {{0, -1.15f}, {1.094f, -.355f}, {.676f, .93f}, {-.676f, .93f}, {-1.094f, -.355f}}},
    {"hexagon",
     6,
     {{-.55f, -.95f}, {.55f, -.95f}, {1.1f, 0}, {.55f, .95f}, {-.55f, .95f}, {-1.1f, 0}}},
    {"cross",
     12,
     {{-.42f, -1.15f},
      {.42f, -1.15f},
      {.42f, -.42f},
      {1.15f, -.42f},
      {1.15f, .42f},
      {.42f, .42f},
      {.42f, 1.15f},
      {-.42f, 1.15f},
      {-.42f, .42f},
      {-1.15f, .42f},
      {-1.15f, -.42f},
      {-.42f, -.42f}}},
};

cbx_look cbx_look_of(int32_t class)
{
    if (class < 0)
        return (cbx_look){"#b0b7be", &shapes[0]};
    return (cbx_look){colours[class % COUNT], &shapes[(class + class / COUNT) % COUNT]};
}
