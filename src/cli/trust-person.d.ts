import { Command } from 'commander';
/** `postern trust accept`: a person's certificate as the service lists it now is theirs. */
export declare function trustAcceptCommand(): Command;
/** `postern trust verify`: a fingerprint was compared with the person's own word. */
export declare function trustVerifyCommand(): Command;
/** `postern trust block`: nothing is sealed to a person and nothing believed of them. */
export declare function trustBlockCommand(): Command;
