import { DomainError, type Hex } from '@causeway/core'
import { askCodeSignature } from '@causeway/families'
import type { JsonRpcClient } from '@causeway/rpc'

/** Too many contract wallets are being asked at once; the caller may retry. */
export class SignatureChecksOverloadedError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
  readonly kind = 'overloaded'

  constructor() {
    super('Too many signatures are being checked.', { retryAfterSeconds: 1 })
  }
}

/** Asks a contract whether it stands behind a signature. */
export interface ContractSignatures {
  /**
   * False for a contract that says no, reverts, loops, answers anything else, or does not exist.
   * @throws SignatureChecksOverloadedError, UpstreamUnavailableError, UpstreamDisagreementError where too few endpoints
   * say the same
   */
  isValid(args: { wallet: Hex; digest: Uint8Array; signature: Hex }): Promise<boolean>
}

const timeoutMs = 3_000
/** Contract calls that run at once: a contract may take as long as it likes. */
const inFlightMax = 8

/**
 * Calls ERC-1271 on the newest state at a quorum of endpoints, so that a single lying endpoint links no wallet.
 * @source ERC-1271; Q-67
 */
export function createContractSignatures(client: Pick<JsonRpcClient, 'agree'>): ContractSignatures {
  let inFlight = 0
  return {
    async isValid({ wallet, digest, signature }) {
      if (inFlight >= inFlightMax) throw new SignatureChecksOverloadedError()
      inFlight += 1
      try {
        return await askCodeSignature(client, { account: wallet, digest, signature }, timeoutMs)
      } finally {
        inFlight -= 1
      }
    },
  }
}
