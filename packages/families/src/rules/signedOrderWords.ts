import type { Hex } from '@causeway/core'

/** The order for which a deposit address is swept: the words of its EIP-712 struct, and the signature over its id. */
export type SignedOrderWords = {
  readonly order: Readonly<
    Record<'version' | 'solverChainId' | 'solver' | 'salt' | 'inputs' | 'output' | 'fees', Hex>
  >
  readonly orderSignature: Hex
}
