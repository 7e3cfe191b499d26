import { DomainError, type Hex } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import { readAbi, readStringResult } from '../contracts/abiReader.ts'

/** Calls that the request gave would fail on the destination chain. */
export class DestinationCallFailedError extends DomainError {
  readonly code = 'DESTINATION_TX_FAILED'
  readonly kind = 'invalid_request'

  /** Revert data, if known. */
  readonly revertData: Hex | undefined

  /** @param args.reason the contract's reason, cleaned; @param args.index position of the failing call */
  constructor(args: { chainId: string; index?: number; reason: string; revertData?: unknown }) {
    const { chainId, index, reason, revertData } = args
    super(`The destination calls fail on chain ${chainId}: ${reason}.`, {
      data: { chainId, reason, ...(index !== undefined && { index }) },
    })
    const isBytes = typeof revertData === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(revertData)
    // CAST: whole bytes of hex, as was just seen.
    this.revertData = isBytes ? (revertData.toLowerCase() as Hex) : undefined
  }
}

/** The chain's nodes cannot simulate the calls, so it is unknown whether they would fail. */
export class SimulationUnsupportedError extends DomainError {
  readonly code = 'SIMULATION_UNSUPPORTED'
  readonly kind = 'invalid_request'

  constructor(chainId: string) {
    super(`Nobody can try calls on chain ${chainId} before they are paid for: leave txs out.`, {
      data: { chainId, field: 'txs' },
    })
  }
}

/** Too many simulations are under way on the chain. */
export class SimulationOverloadedError extends DomainError {
  readonly code = 'SIMULATION_OVERLOADED'
  readonly kind = 'overloaded'

  constructor(chainId: string) {
    super(`Too many destination calls are being simulated on chain ${chainId}.`, {
      data: { chainId },
      retryAfterSeconds: 1,
    })
  }
}

const errorSelector = '0x08c379a0' // Error(string)
const panicSelector = '0x4e487b71' // Panic(uint256)
const reasonLengthMax = 200

/**
 * The reason of a revert in words. A text comes from the contract, so it is shortened and stripped of all but printable
 * characters; an unknown custom error is named by its selector.
 * @source Solidity ABI, "Revert"
 */
export function revertReason(data: unknown): string {
  const fallback = 'it reverts'
  if (typeof data !== 'string' || !/^0x(?:[0-9a-fA-F]{2}){4,}$/.test(data)) return fallback
  const selector = data.slice(0, 10).toLowerCase()
  const encodedError = `0x${data.slice(10).toLowerCase()}` as const
  try {
    if (selector === errorSelector) return printable(readStringResult(encodedError, 'Error')) || fallback
    if (selector === panicSelector) return `panic 0x${readAbi(encodedError, 'Panic').uint(0).toString(16)}`
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
  }
  return `it reverts with ${selector}`
}

function printable(text: string): string {
  return text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, reasonLengthMax)
}
