import type { Sandbox } from '../../src/sandbox/create.ts'
import { makeCast } from './people.ts'

/** Lets so many people with a key each into a sandbox. @returns their ids */
export async function addPeople(
  { control }: Sandbox,
  count: number,
  name = 'person',
): Promise<number[]> {
  await using cast = await makeCast(count)
  const ids: number[] = []
  for (const [index, publicKey] of cast.certificates.entries()) {
    const { id } = await control.addPerson({ username: `${name}_${index}` })
    const fingerprint = cast.publicKeys[index]?.getFingerprint() ?? ''
    await control.publishKey({ userId: id, publicKey, fingerprint })
    ids.push(id)
  }
  return ids
}

/** A group of these people and the bot. @returns its chat id */
export async function addGroup(
  { control, home }: Sandbox,
  { title, people }: { title: string; people: number[] },
): Promise<number> {
  const members = [...people, home.bot.id]
  return (await control.addRoom({ kind: 'group', title, members })).id
}
