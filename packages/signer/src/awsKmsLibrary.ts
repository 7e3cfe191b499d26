// Libraries that only a key of AWS KMS needs. A bundle gives the names of one that is loaded late to whoever imports them
// from a module of ours.
export { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
export { compactFromDer } from './derSignature.ts'
