import type { Settings } from '../config/settings.ts';
import type { Store } from '../store/store.ts';
import type { AttachmentParts } from '../translate/attachment.ts';
import { Attachments } from '../translate/attachments.ts';
import { MediaUrls } from '../translate/media-urls.ts';
import type { Link } from './link.ts';
export interface Media extends AsyncDisposable {
    attachments: Attachments;
    /** Null for a sidecar without a key, whose updates pass as they came. */
    urls: MediaUrls | null;
}
/**
 * Makes them.
 * @param opens what opens; null for a sidecar without a key, which gives files as they are stored
 */
export declare function createMedia({ settings, link, store }: {
    settings: Settings;
    link: Link;
    store: Store;
}, opens: Omit<AttachmentParts, 'named' | 'room' | 'stored' | 'verify'> | null): Promise<Media>;
