export { SignerFailedError } from './errors.ts'
export { parsePrivateKey, readPrivateKeySetting } from './privateKey.ts'
export { createRawKeySigner } from './rawKeySigner.ts'
export { recoverSigner } from './recoverSigner.ts'
