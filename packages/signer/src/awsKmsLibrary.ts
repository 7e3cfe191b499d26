// Libraries that only a key of AWS KMS needs. `awsKmsSigner.ts` imports this module at its first use. A direct dynamic
// import of the packages would not do: a bundle keeps their export names only behind a module of ours.
export { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
export { compactFromDer } from './derSignature.ts'
