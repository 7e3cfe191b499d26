import { depositoryAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { tokenAbi } from '../../contracts/abis.generated.ts'
import { waitUntilMined } from '../../nodes/clients.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`

/**
 * The first user account deposits USDC for its own balance on the hub, for no order.
 * @returns the transaction, mined, and who deposited
 */
export async function depositUsdc(
  { keys, deployment, chains }: OperatedNetwork,
  { chain: key, amount }: { readonly chain: 'base' | 'optimism'; readonly amount: bigint },
): Promise<{ readonly transactionId: Hex; readonly depositor: Hex }> {
  const [user] = keys.users
  if (user === undefined) throw new Error('the network has no user accounts')
  const { depository, tokens } = deployment[key]
  const { chain } = chains[key]
  const approve = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [depository, amount] })
  await chain.send(user, [{ what: 'approve', to: tokens.USDC, data: approve }])
  const clients = chain.as(user)
  const transactionId = await clients.walletClient.writeContract({
    account: privateKeyToAccount(user.privateKey),
    chain: clients.walletClient.chain,
    address: depository,
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [user.address, tokens.USDC, amount, noOrder],
  })
  await waitUntilMined(clients, transactionId, 'the deposit')
  return { transactionId, depositor: user.address }
}
