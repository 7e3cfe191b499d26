import { type Hex, orderId as hashOf, type NetworkOf, orderWords } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { solanaDepositName } from '@causeway/families/rules'
import { privateKeyToAccount } from 'viem/accounts'

const networkOf: NetworkOf = (key) => ({
  vmType: key === 'solana' ? 'solana-vm' : 'ethereum-vm',
  network: undefined,
})
const [orderKey, strangerKey] = ['11', '22'].map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))

/** Signs the orders of `signedOrder`. */
export function orderSigner(): Hex {
  if (orderKey === undefined) throw new Error('there are two keys')
  return orderKey.address.toLowerCase() as Hex // CAST: an address is hex.
}

/** An order that may be paid from a deposit address on Solana, as a sweep names it. */
export async function signedOrder(
  address: string,
  depositor: string,
  change: { readonly currency?: string; readonly isForged?: boolean } = {},
) {
  const { currency = solanaCodec.nativeCurrency, isForged = false } = change
  const chain = { chainId: 'solana', currency }
  const order = {
    version: 'v1' as const,
    solverChainId: 'base',
    solver: `0x${'cc'.repeat(20)}`,
    fees: [],
    salt: `${solanaDepositName(address)}${'07'.repeat(12)}` as const,
    inputs: [
      {
        payment: { ...chain, amount: '100000', weight: '1' },
        refunds: [
          { ...chain, recipient: depositor, minimumAmount: '90000', deadline: 9, extraData: '0x' as const },
        ],
      },
    ],
    output: {
      chainId: 'base',
      calls: [],
      deadline: 9,
      extraData: '0x' as const,
      payments: [
        {
          recipient: `0x${'bb'.repeat(20)}`,
          currency: `0x${'aa'.repeat(20)}`,
          minimumAmount: '90',
          expectedAmount: '99',
        },
      ],
    },
  }
  const orderId = hashOf(order, networkOf)
  const by = isForged ? strangerKey : orderKey
  if (by === undefined) throw new Error('somebody signs')
  const orderSignature = await by.signMessage({ message: { raw: orderId } })
  return { orderId, signed: { order: orderWords(order, networkOf), orderSignature } }
}
