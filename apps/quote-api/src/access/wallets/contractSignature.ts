import type { JsonRpcClient, RpcAnswer } from '@causeway/chains'
import { bytesToHex, DomainError, type Hex } from '@causeway/core'

/** More contract wallets are being asked than may; come back later. */
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
   * @throws SignatureChecksOverloadedError, UpstreamUnavailableError, UpstreamDisagreementError
   */
  isValid(args: { wallet: Hex; digest: Uint8Array; signature: Hex }): Promise<boolean>
}

/** Too little for a loop to be felt or for a megabyte to be returned, enough for a check in Solidity. */
const gasMax = 1_000_000
const timeoutMs = 3_000
const inFlightMax = 8
const selector = '0x1626ba7e'
const acceptance = new RegExp(`^${selector}0{56}$`)

/**
 * ERC-1271 on the newest state, by as many endpoints as a signature needs: one that lies alone links no
 * wallet. @source ERC-1271; ledger-and-safety.md 2.3, 5
 */
export function createContractSignatures(client: JsonRpcClient): ContractSignatures {
  let inFlight = 0
  return {
    async isValid({ wallet, digest, signature }) {
      if (inFlight >= inFlightMax) throw new SignatureChecksOverloadedError()
      inFlight += 1
      try {
        const data = encodeQuestion(digest, signature)
        const call = { to: wallet, data, gas: `0x${gasMax.toString(16)}` }
        const { answers } = await client.agree([{ method: 'eth_call', params: [call, 'latest'] }], {
          timeoutMs,
          // Nodes word their refusals differently; what must agree is yes or no.
          project: saysYes,
        })
        return saysYes(answers)
      } finally {
        inFlight -= 1
      }
    },
  }
}

function saysYes([answer]: readonly RpcAnswer[]): boolean {
  return answer?.ok === true && typeof answer.result === 'string' && acceptance.test(answer.result)
}

/** `isValidSignature(bytes32 hash, bytes signature)` */
function encodeQuestion(digest: Uint8Array, signature: Hex): Hex {
  const digits = signature.slice(2)
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
  return `${selector}${bytesToHex(digest).slice(2)}${word(64)}${word(digits.length / 2)}${padded}`
}
