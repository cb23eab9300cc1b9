import type { Secrets, Settings } from '../config/settings.ts';
import { OperatorError } from '../errors.ts';
import type { Finding } from '../observe/finding.ts';
import type { Core } from './core.ts';
import type { Link } from './link.ts';
/**
 * Looks at everything once.
 * @param store its parts, why it does not open, or null when there never was one
 */
export declare function examineAll({ settings, secrets }: {
    settings: Settings;
    secrets: Secrets;
}, link: Link, store: Core | OperatorError | null): Promise<Finding[]>;
