import { isObject } from '../../api/common.ts'
import type { FaultName } from './table.ts'
import type { Fault } from './faults.ts'

/** Where an answer is given. */
export interface Asked {
  route: string
  params: Record<string, string>
}

type Lie = (result: unknown, fault: Fault, asked: Asked) => void

/** How each lie changes a `result` in place. */
const LIES: Partial<Record<FaultName, Lie>> = {
  'claim-unprotected': (result, _fault, { route }) => {
    if (route === 'getMe') Object.assign(result as object, { mode: 'open', fingerprint: null })
  },
  'claim-fingerprint': (result, { fingerprint }, { route }) => {
    if (route === 'getMe') Object.assign(result as object, { mode: 'protected', fingerprint })
  },
  'claim-kind': (result, { chatId, kind }) => {
    walk(result, (found) => {
      if (found['id'] === chatId && typeof found['kind'] === 'string') found['kind'] = kind
    })
  },
  'swap-key': (result, { userId, publicKey, fingerprint }) => {
    walk(result, (found) => {
      if (found['userId'] !== userId || !('publicKey' in found)) return
      found['publicKey'] = publicKey
      found['fingerprint'] = fingerprint ?? found['fingerprint']
    })
  },
  ghost: (result, { userId, publicKey, fingerprint, chatId }, asked) => {
    keyList(result, asked, chatId)?.push({ userId, fingerprint, publicKey })
  },
  'hide-key': (result, { userId, chatId }, asked) => {
    const keys = keyList(result, asked, chatId)
    const index = keys?.findIndex((key) => isObject(key) && key['userId'] === userId) ?? -1
    if (index !== -1) keys?.splice(index, 1)
  },
}

/** Changes a `result` in place as the fault says. */
export function tell(result: unknown, fault: Fault, asked: Asked): void {
  LIES[fault.name]?.(result, fault, asked)
}

function keyList(result: unknown, asked: Asked, chatId: number | undefined): unknown[] | null {
  const meant = chatId === undefined || asked.params['chatId'] === String(chatId)
  if (asked.route !== 'getChatKeys' || !meant || !isObject(result)) return null
  return Array.isArray(result['keys']) ? result['keys'] : null
}

function walk(value: unknown, visit: (found: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const inner of value) walk(inner, visit)
  if (!isObject(value)) return
  visit(value)
  for (const inner of Object.values(value)) walk(inner, visit)
}
