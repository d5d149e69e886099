/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: the standard's own examples, and lengths around a block. */
#include "sha256.h"

#include <string.h>

#include "test.h"

static bool hashes_to(const void *data, size_t size, const char *expected)
{
    cbx_sha256 sha;
    char       hex[65];
    memset(hex, 'z', sizeof hex);
    cbx_sha256_init(&sha);
    cbx_sha256_add(&sha, data, size);
    cbx_sha256_hex(&sha, hex);
    return !strcmp(hex, expected);
}

TEST(the_examples_of_the_standard)
{
    CHECK(hashes_to("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    CHECK(hashes_to("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    static char million[1000000];
    memset(million, 'a', sizeof million);
    CHECK(hashes_to(million, sizeof million,
                    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

/* Byte i of n is 7 i + n; the hashes are Python's. */
static const struct {
    size_t      size;
    const char *hex;
} known[] = {
    {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
    {55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72"},
    {56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1"},
    {57, "903284efbf9100e8ba1614ec65eacacad125e03f857cae7acbf8b73b23e0fdfe"},
    {63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e"},
    {64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8"},
    {65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720"},
    {119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e"},
    {120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d"},
    {128, "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707"},
    {1000, "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168"},
};
enum { KNOWN = sizeof known / sizeof *known };

static void fill(unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(7 * i + size);
}

TEST(lengths_around_a_block_are_padded_right)
{
    for (int k = 0; k < KNOWN; k++) {
        unsigned char data[1000];
        fill(data, known[k].size);
        CHECK(hashes_to(data, known[k].size, known[k].hex));
    }
}

TEST(a_hash_does_not_depend_on_how_the_bytes_arrive)
{
    for (size_t piece = 1; piece <= 130; piece += 3) {
        unsigned char data[1000];
        cbx_sha256    sha;
        char          hex[65];
        fill(data, 1000);
        cbx_sha256_init(&sha);
        for (size_t at = 0; at < 1000; at += piece)
            cbx_sha256_add(&sha, data + at, 1000 - at < piece ? 1000 - at : piece);
        cbx_sha256_add(&sha, NULL, 0);
        cbx_sha256_hex(&sha, hex);
        CHECK(!strcmp(hex, known[KNOWN - 1].hex));
    }
}
