import { hexToBytes } from '../hashing/hexBytes.ts'
import { viemLibrary } from '../hashing/viemLibrary.ts'
import type { Hex } from '../hex.ts'

/** Course and outcome of a request, signed by quote-api as evidence. Texts are those of its HTTP answer. */
export type TimelineStatement = {
  readonly requestId: Hex
  /** 32 zero bytes where there is no order. */
  readonly orderId: Hex
  readonly status: string
  /** Empty where nothing is wrong. */
  readonly reason: string
  /** Time of the statement, ISO 8601. */
  readonly asOf: string
  /** Oldest first. */
  readonly steps: readonly {
    readonly step: string
    /** ISO 8601. */
    readonly at: string
    readonly reason: string
    readonly text: string
    readonly evidence: readonly {
      readonly kind: string
      readonly label: string
      readonly value: string
      /** 0 where the evidence belongs to no chain. */
      readonly chainId: bigint
    }[]
  }[]
}

/** EIP-712 types of a statement, as wallets and libraries take them. */
export const timelineTypes = {
  Timeline: [
    { name: 'requestId', type: 'bytes32' },
    { name: 'orderId', type: 'bytes32' },
    { name: 'status', type: 'string' },
    { name: 'reason', type: 'string' },
    { name: 'asOf', type: 'string' },
    { name: 'steps', type: 'Step[]' },
  ],
  Step: [
    { name: 'step', type: 'string' },
    { name: 'at', type: 'string' },
    { name: 'reason', type: 'string' },
    { name: 'text', type: 'string' },
    { name: 'evidence', type: 'Evidence[]' },
  ],
  Evidence: [
    { name: 'kind', type: 'string' },
    { name: 'label', type: 'string' },
    { name: 'value', type: 'string' },
    { name: 'chainId', type: 'uint256' },
  ],
} as const

/** Names no chain and no contract, because people verify statements; the signer's address tells whose it is. */
export const timelineDomain = { name: 'CausewayTimeline', version: '1' } as const

/** The 32 bytes that the evidence key signs. @throws RangeError when an id is not 32 bytes: a caller's bug */
export function timelineDigest({ steps, ...statement }: TimelineStatement): Uint8Array {
  const { BaseError, hashTypedData } = viemLibrary()
  try {
    return hexToBytes(
      hashTypedData({
        domain: timelineDomain,
        types: timelineTypes,
        primaryType: 'Timeline',
        message: {
          ...statement,
          steps: steps.map(({ evidence, ...step }) => ({ ...step, evidence: [...evidence] })),
        },
      }),
    )
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    throw new RangeError(error.shortMessage, { cause: error })
  }
}
