/** What an address belongs to, as far as a webhook may be there. */
export type AddressKind = 
/** This machine or a network of the operator's: plain http is allowed. */
'local'
/** The internet: https alone. */
 | 'public'
/** Neither, or the door to a cloud's secrets: nothing is ever sent there. */
 | 'never';
/**
 * What an address belongs to. An IPv4 address that is written as IPv6 counts as what it is; every
 * other way to carry IPv4 in IPv6 is `never`, and so is what is no address or names a zone.
 */
export declare function addressKind(address: string): AddressKind;
