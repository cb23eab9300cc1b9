import type { Control } from '../../../src/sandbox/control/table.ts'

/** The owner's console. `handOver` gives the bot its new token. */
export function ownerOf(
  control: Control,
  o: { botId: number; handOver: (token: string) => Promise<void> },
) {
  const which = { botId: o.botId }
  let issued: string | null = null
  return {
    pause: () => control.pause(which),
    resume: () => control.resume(which),
    setPrivacyMode: ({ on }: { on: boolean }) => control.changeBot({ ...which, privacyMode: on }),
    allowGroups: ({ allow }: { allow: boolean }) =>
      control.changeBot({ ...which, allowGroups: allow }),
    removeKey: () => control.removeKey(which),
    setCommands: (scope: string, commands: Parameters<Control['setCommands']>[0]['commands']) =>
      control.setCommands({ ...which, scope, commands }),
    /** Issues a new token, which the bot does not have yet; gives it. */
    async issueToken() {
      issued = (await control.issueToken(which)).token
      return issued
    },
    /** Gives the bot (and the sidecar before it) the token that was issued last. */
    async handOverToken() {
      if (issued !== null) await o.handOver(issued)
    },
    /** Kinds of the notices that the owner received in the app. */
    async notices() {
      return (await control.bot(which)).ownerNotices.map(({ kind }) => kind)
    },
  }
}
