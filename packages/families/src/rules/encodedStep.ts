import type { Hex } from '@causeway/core'
import type { DepositAddressTerms } from './depositAddressing.ts'

/** A transaction in the form of a step. */
export type EncodedTransaction = {
  readonly data: StepData
  /** Call by which the transaction is recognised on chain if a user executes alone; undefined if it cannot be. */
  readonly call: { readonly to: Hex; readonly data: Hex; readonly value: bigint } | undefined
}

/** `items[].data` of a step. @source github.com/relayprotocol/relay-kit, TransactionStepItem */
export type StepData = Readonly<Record<string, unknown>>

/** Ids and addresses of a quote, with which its transactions are encoded. */
export type StepIdentity = {
  readonly requestId: Hex
  /** Undefined if the user executes alone, without an order. */
  readonly orderId: Hex | undefined
  /** Unix seconds: last moment at which a swap may still execute. */
  readonly deadlineSeconds: number
  /** Address that is paid instead of the depository. */
  readonly depositAddress: string | undefined
  /** Script that spends from the deposit address, on Bitcoin, where the depositor needs it to withdraw. */
  readonly depositScript?: Hex | undefined
  /** Terms that the depositor needs to withdraw from the deposit address, in families without such a script. */
  readonly depositTerms?: DepositAddressTerms | undefined
}

/**
 * Typed data to sign, and the request that takes the signature.
 * @source github.com/relayprotocol/relay-kit, SignatureStepItem
 */
export type Authorization = {
  readonly sign: {
    readonly signatureKind: 'eip712'
    readonly domain: {
      readonly name: string
      readonly version: string
      readonly chainId: number
      readonly verifyingContract: Hex
    }
    readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
    readonly primaryType: string
    readonly value: Readonly<Record<string, string | number>>
  }
  readonly post: {
    readonly endpoint: '/authorize'
    readonly method: 'POST'
    readonly body: Readonly<Record<string, string | number>>
  }
}
