/** The settings of the bot's key, and of what protects or holds it. */
import { z } from 'zod'
import {
  choice,
  Command,
  command,
  days,
  flag,
  group,
  path,
  secret,
  setting,
} from './option-kinds.ts'

const AGENT =
  /^(unix:\/.{1,106}|gpg-agent:(\/.{1,106})?|pkcs11:token=[^;?&]+\?module-path=\/[^;?&]+)$/
const PROTECTIONS = ['auto', 'passphrase', 'keychain', 'none'] as const

export const KEY = group({
  passphrase: secret('passphrase that unlocks the secret keys'),
  passphraseFile: path('file that holds key.passphrase; keep it outside dataDir'),
  passphraseCommand: command(
    'program and arguments that print key.passphrase; no shell, at most a minute and 64 KiB',
  ),
  protection: setting(
    z.union([z.enum(PROTECTIONS), z.strictObject({ exec: Command })]).default('auto'),
    {
      kind: 'command',
      expected: `one of ${PROTECTIONS.join(', ')}, or {exec: [...]} with a program and its arguments`,
      choices: PROTECTIONS,
    },
    'what protects the secret keys; auto takes a passphrase or the keychain, never none; exec: a command that wraps their secret',
  ),
  publish: flag(true, 'create and publish the bot’s key; false passes everything through'),
  algorithm: choice(
    ['classic', 'pqc'],
    'pqc: new keys of the bot get a subkey of ML-KEM-768+X25519 beside Curve25519; `postern check` lists who may not read them',
  ),
  rotateEveryDays: days(1).optional(
    'days between rotations of the bot’s key; no rotation when not set',
  ),
  agent: setting(
    z.string().regex(AGENT).optional(),
    {
      kind: 'text',
      expected:
        'unix:/SOCKET, gpg-agent:, gpg-agent:/SOCKET or pkcs11:token=LABEL?module-path=/LIBRARY',
    },
    'what has the secret keys, and signs and decrypts with them: unix:/run/postern-agent/agent.sock, gpg-agent: or pkcs11:token=LABEL?module-path=/LIBRARY',
  ),
  agentPin: secret('PIN of the token of key.agent'),
  agentPinFile: path('file that holds key.agentPin'),
  retainDays: days(4).default(30, 'days for which an old key still opens late messages'),
})
