/** The settings as flags, and what a command was given, as sources of settings. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { SETTINGS, type Setting } from '../config/settings.ts'
import { processSources, type Sources } from '../config/sources.ts'
import { usageError } from '../errors.ts'
import { SETTINGS_GROUP, type PosternCommand } from './help.ts'
import { keepFlags } from './terminal.ts'

/** Of the kinds whose name does not show how a value is written. */
const PLACEHOLDERS: Partial<Record<string, string>> = { boolean: 'true|false', list: 'a,b' }
/** Longer lists of choices are in the description, so that help fits 80 columns. */
const MAX_PLACEHOLDER_CHARS = 24

/** Options of a command that are given or not. */
export type Switches<Name extends string> = { [_ in Name]?: boolean }
/** Options of a command with a text each. */
export type Texts<Name extends string> = { [_ in Name]?: string }

/**
 * Adds every setting to a command as a flag. Secrets are no flags: other users can see those.
 * @param o `isListed`: whether its help lists them
 */
export function addSettingFlags(command: Command, { isListed }: { isListed: boolean }): Command {
  for (const setting of SETTINGS) {
    const { flag } = setting
    if (flag === null) continue
    const option = new Option(`--${flag} <${placeholder(setting)}>`, describeSetting(setting))
    command.addOption(option.helpGroup(SETTINGS_GROUP).hideHelp(!isListed))
  }
  return command
}

/** The sources of a command's settings. Call it once: it removes secrets from the environment. */
export function sourcesOf(command: Command): Sources {
  const given: Record<string, unknown> = command.optsWithGlobals()
  const flags: Record<string, unknown> = { config: given['config'], bot: given['bot'] }
  keepFlags(flags)
  for (const { flag } of SETTINGS) {
    if (flag !== null) flags[flag] = given[new Option(`--${flag}`).attributeName()]
  }
  return processSources(flags)
}

function placeholder({ choices, kind }: Setting): string {
  if (choices === undefined) return PLACEHOLDERS[kind] ?? kind
  const text = choices.join('|')
  return text.length > MAX_PLACEHOLDER_CHARS ? 'choice' : text
}

/** What a setting means, its choices and its default. */
export function describeSetting(setting: Setting): string {
  const { meaning, preset, choices = [] } = setting
  const text =
    placeholder(setting) === 'choice' ? `${meaning}; one of ${choices.join(', ')}` : meaning
  return preset === undefined ? text : `${text} (${JSON.stringify(preset)})`
}

/**
 * Makes the reader of an id as it was typed.
 * @param what names the kind of id in the refusal
 * @param hint where such ids are shown
 * @returns throws OperatorError `usage`
 */
export const idReader =
  (what: 'chat' | 'message' | 'person', hint: string): ((text: string) => number) =>
  (text) => {
    const id = Number(text)
    if (/^-?\d+$/.test(text) && Number.isSafeInteger(id)) return id
    throw usageError(`a ${what} id is a whole number`, hint)
  }

/** Reads the id of a chat. @throws OperatorError `usage` */
export const readChatId = idReader('chat', '`postern chat list` shows the ids of the chats')

/** Reads the id of a person. @throws OperatorError `usage` */
export const readPersonId = idReader('person', '`postern trust list` shows the ids of the people')

/** What the service of a sandbox enforces. */
export interface LimitFlags {
  rates: 'spec' | 'off'
  /** For `readLimits`. */
  limits?: string
}

/** Adds the flags of `LimitFlags`. */
export const withLimitFlags = (command: PosternCommand): PosternCommand =>
  command
    .option('--limits <name=value,…>', 'limits of the service; --rates off: no rate windows')
    .addOption(new Option('--rates <spec|off>').choices(['spec', 'off']).default('spec').hideHelp())

/** Makes the reader of a whole number. @returns throws InvalidArgumentError */
export const numberReader =
  (what: string, least: number, most: number): ((text: string) => number) =>
  (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`Expected ${what} from ${least} to ${most}.`)
  }

/** Reads the number of a port; 0 is any free one. @throws InvalidArgumentError */
export const readPort = numberReader('a number', 0, 65_535)
