import { ConfigurationError, type Hex, parseCasedAddress } from '@causeway/core'
import { connectLocalChain } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, parseUnits } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Treasury } from './given.ts'

const fundUsage = 'npm run rehearsal -- fund <address> <chain>:<amount>:<ETH or USDC> …'

/** Sends what an account needs, as a treasury would. @throws ConfigurationError for words that name nothing */
export async function fund(
  { privateKey, chains }: Treasury,
  [recipient = '', ...wanted]: readonly string[],
): Promise<readonly string[]> {
  const to = parseCasedAddress(recipient)
  if (to === undefined || wanted.length === 0) throw new ConfigurationError(fundUsage)
  const from = { privateKey, address: privateKeyToAddress(privateKey) }
  for (const word of wanted) {
    const [name = '', amount = '', symbol = ''] = word.split(':')
    const chain = chains[name]
    const token = chain?.tokens[symbol]
    if (
      chain === undefined ||
      (symbol !== 'ETH' && token === undefined) ||
      !/^[0-9]+(\.[0-9]+)?$/.test(amount)
    )
      throw new ConfigurationError(`${word} is not understood: ${fundUsage}`)
    const transaction =
      token === undefined
        ? { to, valueWei: parseUnits(amount, 18) }
        : { to: token, data: transferOf(to, parseUnits(amount, 6)) }
    await connectLocalChain(chain.url, chain.chainId).send(from, [{ what: word, ...transaction }])
  }
  return wanted.map((word) => `sent ${word} to ${to}`)
}

function transferOf(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
}
