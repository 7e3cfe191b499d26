// Orders that deposit addresses may pay, signed as quote-api signs them.

import { type Hex, type NetworkOf, type Order, orderId, orderWords } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { depositOrderSalt } from '@causeway/families/rules'
import { zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { LocalAccount } from '../../src/keys/localKeys.ts'

const networkOf: NetworkOf = (chainId) =>
  chainId === 'base' || chainId === 'optimism' ? mainNetwork('ethereum-vm') : undefined

/** Asks for 1,000 wei on base and pays 1 wei on optimism. */
export function depositOrder(
  address: Hex,
  {
    solver,
    recipient,
    random = 1,
  }: { readonly solver: Hex; readonly recipient: Hex; readonly random?: number },
): Order {
  return {
    version: 'v1',
    solverChainId: 'base',
    solver,
    salt: depositOrderSalt(address, new Uint8Array(12).fill(random)),
    inputs: [
      { payment: { chainId: 'base', currency: zeroAddress, amount: '1000', weight: '1' }, refunds: [] },
    ],
    output: {
      chainId: 'optimism',
      payments: [{ recipient, currency: zeroAddress, minimumAmount: '1', expectedAmount: '1' }],
      calls: [],
      deadline: 2_000_000_000,
      extraData: '0x',
    },
    fees: [],
  }
}

export async function signedOrder(order: Order, signer: LocalAccount) {
  const id = orderId(order, networkOf)
  const orderSignature = await privateKeyToAccount(signer.privateKey).signMessage({ message: { raw: id } })
  return { id, orderSignature, words: orderWords(order, networkOf) }
}
