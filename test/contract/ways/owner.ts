import type { Control } from '../../../src/sandbox/control/table.ts'
import type { Owner } from '../stage.ts'

/** The owner's console. `handOver` gives the bot its new token. */
export function ownerOf(
  control: Control,
  o: { botId: number; handOver: (token: string) => Promise<void> },
): Owner {
  const which = { botId: o.botId }
  let issued: string | null = null
  return {
    pause: async () => void (await control.pause(which)),
    resume: async () => void (await control.resume(which)),
    setPrivacyMode: async ({ on }) => void (await control.changeBot({ ...which, privacyMode: on })),
    allowGroups: async ({ allow }) =>
      void (await control.changeBot({ ...which, allowGroups: allow })),
    removeKey: async () => void (await control.removeKey(which)),
    setCommands: async (scope, commands) =>
      void (await control.setCommands({ ...which, scope, commands })),
    issueToken: async () => {
      issued = (await control.issueToken(which)).token
      return issued
    },
    handOverToken: async () => {
      if (issued !== null) await o.handOver(issued)
    },
    notices: async () => {
      const { ownerNotices } = await control.bot(which)
      return ownerNotices.map(({ kind }) => kind)
    },
  }
}
