/** `postern key export` and `import`: secret keys out of the store and into it. */
import { Command } from 'commander';
/** `postern key export`: a secret key for another program, locked under a passphrase of its own. */
export declare function keyExportCommand(): Command;
/** `postern key import`: a secret key that another program exported becomes the bot's. */
export declare function keyImportCommand(): Command;
