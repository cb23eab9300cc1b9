/**
 * The detached signature of the checksums, by a key of the owner's. Run by itself, it signs a file:
 * `node config/release-signature.ts FILE KEY`, where no other program shall see the key.
 */
import type { SpawnSyncOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { runProgram } from './release-error.ts'

/** It may ask for a passphrase. */
const ASKING: SpawnSyncOptions = { stdio: ['inherit', 'pipe', 'inherit'] }

/**
 * Writes it beside a file, in armor. It has the time of its making and random parts, so that no two
 * are the same.
 * @param key a file with a secret key for sq; else a key of gpg's keyring
 */
export function sign(file: string, key: string): void {
  const keyFile = resolve(process.env['INIT_CWD'] ?? '.', key)
  const signature = `${file}.asc`
  if (!existsSync(keyFile)) {
    const args = ['--local-user', key, '--armor', '--output', signature, '--detach-sign', file]
    runProgram('gpg', args, ASKING)
    return
  }
  // Options of sq had other names before 1.0.
  const help = runProgram('sq', ['sign', '--help'])
  const signer = help.includes('--signer-file') ? '--signer-file' : '--signer-key'
  const target = help.includes('--signature-file')
    ? ['--signature-file', signature]
    : ['--detached', '--output', signature]
  runProgram('sq', ['sign', signer, keyFile, ...target, file], ASKING)
}

if (import.meta.main) {
  const [file = '', key = ''] = process.argv.slice(2)
  sign(file, key)
}
