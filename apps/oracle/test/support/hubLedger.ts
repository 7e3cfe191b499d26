import type { Hex } from '@causeway/core'
import { hubAbi, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, keccak256, toHex } from 'viem'

/** Money on the hub from nowhere: the owner of its ledger makes himself an operator. */
export async function grantBalance(
  network: TestNetwork,
  { holder, token, amount }: { readonly holder: Hex; readonly token: bigint; readonly amount: bigint },
): Promise<void> {
  const { hub: to } = network.deployment.hub
  const { deployer } = network.keys
  const role = [keccak256(toHex('OPERATOR_ROLE')), deployer.address] as const
  const grant = encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: role })
  const mint = encodeFunctionData({ abi: hubAbi, functionName: 'mint', args: [holder, token, amount] })
  await network.chains.hub.chain.send(deployer, [
    { what: 'a right to mint', to, data: grant },
    { what: 'money on the hub', to, data: mint },
  ])
}
