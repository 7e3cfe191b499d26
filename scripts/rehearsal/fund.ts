import { ConfigurationError, type Hex } from '@causeway/core'
import { parseCasedAddress } from '@causeway/families/rules'
import { connectLocalChain, type LocalChain } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, parseUnits } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Treasury } from './given.ts'

export const rehearsalProgram = {
  name: 'npm run rehearsal --',
  about: 'What others do for an operator of production; without a word it starts, and runs until Ctrl-C.',
  commands: [
    {
      words: 'fund',
      about: 'Send what an account lacks of what it needs, e.g. base:1:ETH; asked again, it sends nothing',
      operands: ['address', 'chain:amount:ETH|USDC...'],
    },
  ],
}

/**
 * Sends what an account lacks of what it needs, as a treasury would: asked again, it sends nothing.
 * @throws ConfigurationError for words that name nothing
 */
export async function fund(
  { privateKey, chains }: Treasury,
  recipient: string,
  wanted: readonly string[],
): Promise<readonly string[]> {
  const to = parseCasedAddress(recipient)
  if (to === undefined) throw new ConfigurationError(`${recipient} is no address of an account.`)
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
      throw new ConfigurationError(
        `${word} is not understood: it takes ${Object.keys(chains).join(', ')}, e.g. base:1:ETH.`,
      )
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
