import { expect, test } from 'vitest'
import { contentTypeOf } from '../../src/attachments/attachment.ts'
import { seeds } from '../support/chance.ts'
import { seeded } from '../support/openpgp-bytes.ts'

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const ftyp = (brand: string): Buffer =>
  Buffer.concat([hex('00000018'), Buffer.from(`ftyp${brand}`)])

test.each([
  ['image/jpeg', hex('ffd8ffe000104a464946')],
  ['image/jpeg', hex('ffd8ffdb0043')],
  ['image/png', hex('89504e470d0a1a0a')],
  ['image/gif', Buffer.from('GIF89a')],
  ['image/webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ')],
  ['image/heif', ftyp('heic')],
  ['image/avif', ftyp('avif')],
  ['video/mp4', ftyp('isom')],
  ['video/quicktime', ftyp('qt  ')],
  ['video/x-matroska', hex('1a45dfa3 9f4286810142f7')],
  ['audio/mpeg', Buffer.from('ID3\x03\0')],
  ['audio/x-wav', Buffer.from('RIFF\x10\0\0\0WAVEfmt ')],
  ['application/ogg', Buffer.from('OggS\0\x02')],
  ['application/pdf', Buffer.from('%PDF-1.7')],
  ['application/zip', hex('504b03041400')],
])('a file of the type %s is recognised by its first bytes', (type, head) => {
  expect(contentTypeOf(Buffer.concat([head, Buffer.alloc(64)]))).toBe(type)
})

test.each([
  ['no bytes', ''],
  ['words', 'hello there'],
  ['HTML', '<!DOCTYPE html><html>'],
  ['HTML after a byte-order mark', '\ufeff<html>'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg">'],
  ['XML', '<?xml version="1.0"?>'],
  ['a script', '#!/bin/sh\n'],
  ['JavaScript', 'alert(1)'],
  ['a program', '\x7fELF'],
])('a file with %s is `application/octet-stream`', (_, head) => {
  expect(contentTypeOf(Buffer.from(head))).toBe('application/octet-stream')
})

test('the type of any bytes fits into a header and is none that a browser runs', () => {
  for (const seed of seeds(3000)) {
    const type = contentTypeOf(seeded(`bytes ${seed}`, seed % 40))
    expect(type, `FUZZ_SEED=${seed}`).toMatch(/^(?:image|audio|video|application)\/[a-z0-9.+-]+$/)
    expect(type, `FUZZ_SEED=${seed}`).not.toMatch(/svg|xml|html|script/)
  }
})
