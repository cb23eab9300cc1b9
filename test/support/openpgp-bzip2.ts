/**
 * Compressed streams of bzip2, which the platform cannot write: made once with the program of that
 * name from what each line says. They stand behind the algorithm octet 3 in a compressed packet.
 */
const stream = (base64: string): Buffer => Buffer.from(base64, 'base64')

/** `literal('hello')` */
export const BZIP2_HELLO = stream(
  'QlpoOTFBWSZTWbDntnkAAAZBhGAIAkSCAAAIIAAxBkxA0DCOwIuTDni7kinChIWHPbPI',
)
/** `signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })` */
export const BZIP2_SIGNED = stream(
  'QlpoOTFBWSZTWS5T7NIAADX///9qV4goEmAFkU4kAaJ0ij3jAgK6IwAaAX09DP0DogA6IAB0O9QAAAAAAaAGgAAG' +
    'gaGNRtE0w1DvSG0j1DEHqAMgAAADRkyAAAAAZKBAGRIa4ZOUqw0bmtXhhQyKyYtmkaC0PiATZ7RmdTQ+QaL/1YSG' +
    'IfKVXLTxZEsaOuWRxtstm5cG+HKL2IPNUBhvQJ1N+aNY8oN7yqkh+moiPJMAWgoQMkekHxgsLain9USAUqkMZwFR' +
    '6hjffxdyRThQkC5T7NI=',
)
/** `compressed(literal('hello'), 1)` */
export const BZIP2_NESTED = stream(
  'QlpoOTFBWSZTWWp9kngAAAXqFPACACAAKAACACAAUgAgIAAxANABAAGmiG6eyxtAT4u5IpwoSDU+yTwA',
)
/** Nothing at all. */
export const BZIP2_EMPTY = stream('QlpoORdyRThQkAAAAAA=')
/** A literal of 300 MiB of zeros. */
export const BZIP2_BOMB = stream(
  'QlpoOTFBWSZTWXw10JcFfjjhBMEAEAAQAEAIAAigAFCGBAmqozQ1yRUBL+IqAln1CoCXc5myKgJd8YoKyTKayHBP' +
    'FvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4' +
    'CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8' +
    'cgAGAAAAQQABhAJqMhUBLUhUBLmKCskyms/xhO0QCWCaABYAAEAAAEEAAYZgKU0yiBSNiogUjxdyRThQkIadllY=',
)
