/** Whether a text is an IP address of the public internet. */
export declare function isPublicAddress(address: string): boolean;
