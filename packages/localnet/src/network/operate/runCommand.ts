import { assertNever } from '@causeway/core'
import { formatGwei, formatUnits } from 'viem'
import { placeEvmWallet } from '../../wallets/evmWallets.ts'
import { setBaseFee } from './baseFee.ts'
import type { OperatorCommand } from './commands.ts'
import { depositUsdc } from './deposit.ts'
import { depositOnFamily, describeFamilies, placeFamilyWallet, silenceFamily } from './families.ts'
import { dispense } from './faucet.ts'
import { movePrice } from './movePrice.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'
import { submitAttestation } from './submitAttestation.ts'

/** Does what an operator asked for. @returns one sentence that says what was done */
export async function runOperatorCommand(
  network: OperatedNetwork,
  command: OperatorCommand,
): Promise<string> {
  switch (command.kind) {
    case 'price': {
      await movePrice(network, command)
      const subject = command.only === 'feed' ? 'The feeds alone' : 'Feeds and pools'
      return `${subject} of base and optimism say ${command.price} ${formatUnits(command.answer, 8)}.`
    }
    case 'basefee':
      await setBaseFee(network.chains[command.chain].chain, command.baseFeeWei)
      return `The base fee of ${command.chain} is ${formatGwei(command.baseFeeWei)} gwei.`
    case 'mine': {
      const { client, node } = network.chains[command.chain].chain
      await node.mine({ blocks: command.blocks })
      return `The head of ${command.chain} is block ${await client.getBlockNumber({ cacheTime: 0 })}.`
    }
    case 'faucet':
      await dispense(network, command.account)
      return `${command.account} received 10 native coins per chain and 10,000 USD of each token.`
    case 'wallet': {
      const { chain, wallet } = command
      const { USDC } = network.deployment[chain].tokens
      return `${await placeEvmWallet(network.chains[chain].chain, wallet, USDC)} on ${chain} is ${wallet}.`
    }
    case 'familyWallet':
      return placeFamilyWallet(network, command.family, command.wallet)
    case 'deposit': {
      const { transactionId, depositor } = await depositUsdc(network, command)
      const usdc = formatUnits(command.amount, 6)
      return `${transactionId} deposits ${usdc} USDC of ${depositor} on ${command.chain}.`
    }
    case 'familyDeposit':
      return depositOnFamily(network, command.family, command.amount)
    case 'families':
      return describeFamilies(network)
    case 'silence':
      return silenceFamily(network, command.family)
    case 'submit':
      return `The hub executed the attestation in ${await submitAttestation(network, command.file)}.`
    default:
      return assertNever(command)
  }
}
