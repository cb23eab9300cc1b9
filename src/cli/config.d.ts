/** `postern config`: the settings. */
import { Command } from 'commander';
/** `postern config show`: the settings that count, and where each comes from. */
export declare function configShowCommand(): Command;
/** `postern config schema`: the JSON schema of the settings file, for editors. */
export declare function configSchemaCommand(): Command;
