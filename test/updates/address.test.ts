import { expect, test } from 'vitest'
import { addressKind } from '../../src/updates/target.ts'
import { fc } from '../support/property.ts'

/** Words of a table, one by one. */
const each = (words: string): string[] => words.trim().split(/\s+/)

test.each(
  each(`
    127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1
    100.64.0.1 100.127.255.255 ::1 0:0:0:0:0:0:0:1 fc00::1 fdff:ffff::1 ::ffff:127.0.0.1
    ::FFFF:10.1.2.3 ::ffff:a01:203 0:0:0:0:0:ffff:192.168.1.1`),
)('the address %s is local', (address) => expect(addressKind(address)).toBe('local'))

test.each(
  each(`
    1.1.1.1 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0
    100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
    223.255.255.255 2606:4700::1111 2a00::1 ::ffff:8.8.8.8`),
)('the address %s is public', (address) => expect(addressKind(address)).toBe('public'))

test.each(
  [
    ['unspecified', '0.0.0.0 ::'],
    ['this network', '0.1.2.3'],
    ['link-local', '169.254.0.1 fe80::1'],
    ['metadata', '169.254.169.254'],
    ['metadata, mapped', '::ffff:169.254.169.254'],
    ['metadata, mapped in hexadecimal', '::ffff:a9fe:a9fe'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['local with a zone', '::1%lo'],
    ['site-local, deprecated', 'fec0::1'],
    ['multicast', '224.0.0.1 239.255.255.255 ff02::1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['protocol assignments', '192.0.0.192'],
    ['documentation', '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1'],
    ['benchmarks', '198.18.0.1'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['metadata of Azure', '168.63.129.16'],
    ['metadata of AWS', 'fd00:ec2::254'],
    ['metadata of Google', 'fd20:ce::254'],
    ['IPv4-compatible', '::127.0.0.1 ::a00:1'],
    ['translated IPv4', '64:ff9b::7f00:1 64:ff9b:1::a00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['discard', '100::1'],
    ['unassigned', '4000::1'],
    ['not an address', 'localhost  1.2.3 127.0.0.1:80 [::1]'],
    ['octal', '0177.0.0.1'],
  ].flatMap(([what = '', addresses = '']) =>
    addresses.split(' ').map((one) => [what, one] as const),
  ),
)('a webhook address of the kind "%s" is never called: %s', (_what, address) =>
  expect(addressKind(address)).toBe('never'),
)

test('an IPv4 address has the same kind in each of its IPv6-mapped spellings', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const half = (high: number, low: number) => (high * 256 + low).toString(16)
      const hexadecimal = `${half(a, b)}:${half(c, d)}`
      const spellings = [`::ffff:${address}`, `::ffff:${hexadecimal}`, `0:0::FFFF:${hexadecimal}`]
      for (const spelling of spellings) expect(addressKind(spelling)).toBe(addressKind(address))
    }),
  )
})
