import { ConfigurationError, type Hex, parseCasedAddress } from '@causeway/core'
import { connectLocalChain, type LocalChain } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, parseUnits } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Treasury } from './given.ts'

const fundUsage = 'npm run rehearsal -- fund <address> <chain>:<amount>:<ETH or USDC> …'

/**
 * Sends what an account lacks of what it needs, as a treasury would: asked again, it sends nothing.
 * @throws ConfigurationError for words that name nothing
 */
export async function fund(
  { privateKey, chains }: Treasury,
  [recipient = '', ...wanted]: readonly string[],
): Promise<readonly string[]> {
  const to = parseCasedAddress(recipient)
  if (to === undefined || wanted.length === 0) throw new ConfigurationError(fundUsage)
  const from = { privateKey, address: privateKeyToAddress(privateKey) }
  const lines: string[] = []
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
    const local = connectLocalChain(chain.url, chain.chainId)
    const needed = parseUnits(amount, token === undefined ? 18 : 6)
    const missing = needed - (await balanceOf(local, to, token))
    if (missing <= 0n) {
      lines.push(`${to} has ${word}`)
      continue
    }
    const transaction =
      token === undefined ? { to, valueWei: missing } : { to: token, data: transferOf(to, missing) }
    await local.send(from, [{ what: word, ...transaction }])
    lines.push(`sent ${word} to ${to}`)
  }
  return lines
}

function balanceOf({ client }: LocalChain, holder: Hex, token: Hex | undefined): Promise<bigint> {
  if (token === undefined) return client.getBalance({ address: holder })
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}

function transferOf(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
}
