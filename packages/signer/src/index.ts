export { parsePrivateKey } from './privateKey.ts'
export { createRawKeySigner } from './rawKeySigner.ts'
export { recoverSigner } from './recoverSigner.ts'
export { SignerFailedError } from './signerFailedError.ts'
