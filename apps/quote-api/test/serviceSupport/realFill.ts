import type { Hex } from '@causeway/core'
import { executeCallData, type LocalAccount, type TestNetwork, testFill } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { QuoteAnswer } from './callService.ts'
import type { UserChain } from './localRequest.ts'
import { transactionsOf } from './transactionsOf.ts'

/**
 * Executes a quoted USDC bridge on chain, in order: the user sends the steps, the solver pays the order's output
 * through the fill contract, the allocator pays the deposit out to the solver.
 */
export async function fillForReal(
  network: TestNetwork,
  quoted: QuoteAnswer,
  { user, from, to }: { readonly user: LocalAccount; readonly from: UserChain; readonly to: UserChain },
): Promise<void> {
  const order = quoted.protocol?.v2
  const payment = order?.orderData.output.payments[0]
  if (order === undefined || payment === undefined) throw new Error('the quote has no order')
  const steps = transactionsOf(quoted)
  await network.chains[from].chain.send(
    user,
    // CAST: steps hold addresses and calldata, which the wire describes as text.
    steps.map(({ id, to: target, data }) => ({ what: id, to: target as Hex, data: data as Hex })),
  )
  await payOut(network, to, {
    orderId: order.orderId,
    recipient: payment.recipient,
    amount: BigInt(payment.expectedAmount),
  })
  await settle(network, from, {
    amount: BigInt(order.paymentDetails.amount),
    nonce: BigInt(order.orderId),
  })
}

async function payOut(
  network: TestNetwork,
  chain: UserChain,
  { orderId, recipient, amount }: { orderId: string; recipient: string; amount: bigint },
): Promise<void> {
  const { fillContract, tokens } = network.deployment[chain]
  const data = testFill({
    // CAST: an order id is 32 bytes of hex.
    orderId: orderId as Hex,
    // CAST: an order of two EVM chains names EVM addresses.
    tokens: [{ token: tokens.USDC, to: recipient as Hex, amount }],
  })
  await network.chains[chain].chain.send(network.keys.fillWallet, [{ what: 'fill', to: fillContract, data }])
}

/** The depository pays what the allocator's signer signed. */
async function settle(
  network: TestNetwork,
  chain: UserChain,
  { amount, nonce }: { amount: bigint; nonce: bigint },
): Promise<void> {
  const { keys, deployment } = network
  const { depository, tokens } = deployment[chain]
  const transfer = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [keys.fillWallet.address, amount],
  })
  const request = {
    calls: [{ to: tokens.USDC, data: transfer, value: 0n, allowFailure: false }],
    nonce,
    expiration: maxUint256,
  }
  const { chainId, send } = network.chains[chain].chain
  const allocator = privateKeyToAccount(keys.allocator.privateKey)
  const data = await executeCallData({ chainId, depository, allocator, request })
  await send(keys.fillWallet, [{ what: 'settlement', to: depository, data }])
}
