import { bytesToHex, type HoldRequest, sha256 } from '@causeway/core'
import { transferId } from '../transfers/transferId.ts'

/**
 * Hash of all that a hold promises, hex without `0x`. A request id that comes again with another hash is
 * a conflict. JSON of a list keeps the fields apart whatever they hold.
 */
export function holdBodyHash(request: HoldRequest): string {
  const body = [
    request.requestId,
    request.sponsor,
    request.apiKeyId,
    request.user,
    request.recipient,
    request.originChainId,
    request.destinationChainId,
    request.components,
    request.amountMicroUsd.toString(),
    request.lifetimeSeconds,
    request.requoteKey,
  ]
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(body)))).slice(2)
}

export function holdId(requestId: string, attempt: number): string {
  return transferId('hold', `${requestId}:${attempt}`)
}
