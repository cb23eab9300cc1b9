/** `postern key list`, `show`, `generate` and `publish`. */
import { Command } from 'commander';
/** `postern key list`: the bot's own keys. */
export declare function keyListCommand(): Command;
/** `postern key show`: a certificate, to compare fingerprints with or to import elsewhere. */
export declare function keyShowCommand(): Command;
/** `postern key generate`: the bot's first key, before anything is published. */
export declare function keyGenerateCommand(): Command;
/** `postern key publish`: puts our key at the service, when that is not done by itself. */
export declare function keyPublishCommand(): Command;
