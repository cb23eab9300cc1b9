import { SecretReader } from '../../src/config/pipes.ts'
import type { Sources } from '../../src/config/sources.ts'

/** Where settings come from when they are all in the environment. @param folder working and home */
export const sourcesOf = (env: Sources['env'], folder: string): Sources => ({
  flags: {},
  env,
  configFlag: null,
  bot: null,
  cwd: folder,
  home: folder,
  runtimeDir: null,
  terminal: false,
  nodeOptions: [],
  inspectorOpen: false,
  secretReader: new SecretReader(),
  mayHaveKeychain: false,
})
