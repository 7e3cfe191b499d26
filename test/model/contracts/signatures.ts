import { type Hex, hexToBytes } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { callData, type Frame, Revert } from './contractModel.ts'

const isValidSignature = callData(
  'function isValidSignature(bytes32 digest, bytes signature) returns (bytes4)',
)
const accepted = '0x1626ba7e'

/** True when `signer` signed: as a key, or as a contract that says so. */
export function isSignedBy(frame: Frame, signer: Hex, digest: Hex, signature: Hex): boolean {
  if (/^0x0*$/.test(signer)) return false
  if (recoverSigner(hexToBytes(digest), signature) === signer) return true
  if (!frame.hasCode(signer)) return false
  try {
    return frame.call(signer, isValidSignature(digest, signature)).startsWith(accepted)
  } catch (error) {
    if (error instanceof Revert) return false
    throw error
  }
}
