import type { Hex } from '@causeway/core'

/** For which order an address is emptied: the words of its EIP-712 struct, and the signature of its id. */
export type SignedOrderWords = {
  readonly order: Readonly<
    Record<'version' | 'solverChainId' | 'solver' | 'salt' | 'inputs' | 'output' | 'fees', Hex>
  >
  readonly orderSignature: Hex
}
