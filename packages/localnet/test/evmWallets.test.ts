// Goal: each wallet of the table takes, or refuses, what the table says, so that a test that pays it proves what its title
// says. Method: plain calls with coin and of a token, at a real node with the gas that a transaction may have.
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { type EvmWallet, evmWallets, isEvmWalletName, placeEvmWallet } from '../src/wallets/evmWallets.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

let bench: ContractBench<ChainDeployment>
beforeAll(async () => {
  bench = await startUserChainBench()
  const [user = freshAccount()] = bench.keys.users
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [user.address, 100n] })
  await bench.chain.send(user, [{ what: 'an approval', to: bench.deployment.tokens.USDC, data }])
})
afterAll(() => bench?.stop())

const gas = 16_777_216n

test.each(Object.keys(evmWallets).filter(isEvmWalletName))('O-74: %s takes what it says', async (name) => {
  const { deployment, chain, keys } = bench
  const token = deployment.tokens.USDC
  const account = await placeEvmWallet(chain, name, token)
  const [{ address } = freshAccount()] = keys.users
  const common = { account: address, gas, gasPrice: await chain.client.getGasPrice() }
  const isDone = (call: object) =>
    chain.client.call({ ...common, ...call }).then(
      () => true,
      () => false,
    )
  const transferFrom = { abi: erc20Abi, functionName: 'transferFrom', args: [address, account, 1n] } as const
  const transfer = { abi: erc20Abi, functionName: 'transfer', args: [address, 0n] } as const
  const { cannotBePaid = [], cannotPay = [] }: EvmWallet = evmWallets[name]
  expect(await isDone({ to: token, data: encodeFunctionData(transferFrom) })).toBe(
    !cannotBePaid.includes('token'),
  )
  expect(await isDone({ to: account, value: 1n })).toBe(!cannotBePaid.includes('coin'))
  await chain.node.setBalance({ address: account, value: 10n ** 18n })
  expect(await isDone({ account, to: token, data: encodeFunctionData(transfer) })).toBe(
    !cannotPay.includes('token'),
  )
})
