import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  connectQuotingChain,
  environmentFileNames,
  networkContradictions,
  readEnvironmentFiles,
} from '@causeway/chains'
import { DomainError } from '@causeway/core'
import {
  contractChain,
  counted,
  createFindings,
  isContractChain,
  type QuoteFile,
} from '@causeway/core/config'
import {
  type ChainFinding,
  contractFindings,
  isOnThisMachine,
  type RegisteredChain,
} from '@causeway/families'
import { readFeedAges } from '@causeway/market'
import { type ChainClient, NodeError } from '@causeway/rpc'
import { loadFiles } from '../../config/configuration.ts'
import { createRegistry, type QuotableChain } from '../../pricing/registry.ts'
import { expectations, feedsOn } from '../checkChains.ts'
import { type ChainsContext, type Command, noOrderSigner, type Output } from './command.ts'
import { dateChains } from './dateChains.ts'
import { guardianMistakes } from './guardianSets.ts'

/** A value of the configuration that a chain contradicts. */
type Mistake = {
  readonly file: string
  /** Member of the file, e.g. `chains.base.multicall3`. */
  readonly path: string
  /** Configured value. */
  readonly value: string
  /** The value that the chain says instead. */
  readonly said: string
  readonly fix: string
}

/** A place of a file that is still to be filled in, e.g. `chains.own.prod.json: chains[0].depository`. */
type Placeholder = { readonly place: string; readonly words: string; readonly fix: string }

/** A quoted chain that has endpoints, as both files describe it. */
type CheckedChain = {
  readonly chain: QuotableChain
  readonly listed: RegisteredChain
  readonly client: ChainClient
  readonly quote: QuoteFile
}

export const configCommands: readonly Command[] = [
  {
    words: 'config check',
    about: 'Compare the configuration of ENVIRONMENT with what its chains say',
    flags: {
      'against-chain': {
        about: 'Compare guardian sets too, and write into the quote file when a chain agreed with all of it',
      },
    },
    runOnChains: (context, args) => checkConfiguration(context, args.isOn('against-chain')),
  },
]

/** @param isDated also compares guardian sets, and writes today's date into the quote file for chains that agree with it */
async function checkConfiguration(context: ChainsContext, isDated: boolean): Promise<Output> {
  const toFillIn = await placesToFillIn(context)
  if (toFillIn.length > 0) return outputOf({ checked: [], dated: [], unread: [], mistakes: [], toFillIn })
  const { checkedChains, unread } = await openCheckedChains(context)
  try {
    const mistakesByChain = await Promise.all(
      checkedChains.map((checked) => mistakesOf(checked, context, isDated)),
    )
    const agreeingChains = checkedChains.filter((_, index) => mistakesByChain[index]?.length === 0)
    const agreeingKeys = agreeingChains.map(({ chain }) => chain.key)
    return outputOf({
      checked: checkedChains.map(({ chain }) => chain.key),
      dated: isDated ? await dateFile(agreeingKeys, context) : [],
      unread,
      mistakes: mistakesByChain.flat(),
      toFillIn,
    })
  } finally {
    await Promise.all(checkedChains.map(({ client }) => client.close()))
  }
}

/** Opens the quoted chains. `unread` are those without an endpoint, with the unset variables that would name one. */
async function openCheckedChains({ config, variables }: ChainsContext) {
  const { chains, quote } = await loadFiles(config, variables, noOrderSigner)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const unread: { readonly chain: string; readonly variables: readonly string[] }[] = []
  const checkedChains: CheckedChain[] = []
  for (const chain of registry.chains) {
    const listed = chains.chains.get(chain.key)
    const client = listed && connectQuotingChain(listed)
    if (listed !== undefined && client !== undefined) checkedChains.push({ chain, listed, client, quote })
    else unread.push({ chain: chain.key, variables: listed?.unsetVariables ?? [] })
  }
  return { checkedChains, unread }
}

/** Places to fill in, in all files of the environment that exist, also those of other services. */
async function placesToFillIn({ config }: ChainsContext): Promise<readonly Placeholder[]> {
  const findings = createFindings()
  const { environment, configDirectory: directory } = config
  // Other findings about a file are left to the doctor of the service that reads it.
  await readEnvironmentFiles({ directory, environment }, environmentFileNames, findings)
  return findings.list.flatMap(({ code, setting, seen, fix }) =>
    code === 'configuration-unfilled' ? [{ place: setting, words: seen, fix }] : [],
  )
}

/** Writes today's date beside chains that agree with the quote file. @returns chains whose date changed */
async function dateFile(keys: readonly string[], { config }: ChainsContext): Promise<readonly string[]> {
  const path = join(config.configDirectory, `quote.${config.environment}.json`)
  const before = await readFile(path, 'utf8')
  const day = new Date().toISOString().slice(0, 10)
  const after = dateChains(before, keys, day)
  if (after !== before) await writeFile(path, after)
  return keys.filter((key) => dateChains(before, [key], day) !== before)
}

/** Everything that one chain says against the files; a chain that cannot be read is one mistake. */
async function mistakesOf(
  checked: CheckedChain,
  { config }: ChainsContext,
  withGuardians: boolean,
): Promise<readonly Mistake[]> {
  const { chain, listed, client } = checked
  const { environment } = config
  try {
    const findings = isContractChain(chain.config)
      ? await contractMistakes(checked)
      : await networkContradictions(listed, chain.config, client, isOnThisMachine(environment))
    const stale = await staleFeeds(checked, findings)
    const guardians = withGuardians ? await guardianMistakes(chain.key, client, checked.quote) : []
    return [...findings, ...stale, ...guardians].map((finding) => mistakeOf(finding, checked))
  } catch (error) {
    if (!(error instanceof DomainError) && !(error instanceof NodeError)) throw error
    return [
      {
        file: `chains.${environment}.json`,
        path: `${chain.key}.httpRpcUrl`,
        value: `endpoints: ${listed.endpoints.length}`,
        said: error.message,
        fix: 'Name endpoints that answer, of more than one provider.',
      },
    ]
  }
}

/** Contradictions between files and contracts: what the start checks, and symbols of tokens and members of pools. */
function contractMistakes({ chain, listed, client, quote }: CheckedChain): Promise<readonly ChainFinding[]> {
  const { key, currencies, quoting } = chain
  const { uniswapV3 } = contractChain(chain.config)
  const symbols = [...currencies.values()]
    .filter(({ isNative }) => !isNative)
    .map(({ symbol, address }) => ({
      setting: `quote: chains.${key}.currencies.${symbol}`,
      address: quoting.hexAddress(address),
      getter: 'symbol' as const,
      text: symbol,
    }))
  const pools = (uniswapV3?.pools ?? []).flatMap(
    ({ address, token0, token1, feePips, tickSpacing }, index) => {
      const pool = { setting: `quote: chains.${key}.uniswapV3.pools[${index}]`, address }
      return [
        ...(uniswapV3 === undefined
          ? []
          : [{ ...pool, getter: 'factory', word: uniswapV3.factory } as const]),
        { ...pool, getter: 'token0', word: token0 } as const,
        { ...pool, getter: 'token1', word: token1 } as const,
        { ...pool, getter: 'fee', number: feePips } as const,
        { ...pool, getter: 'tickSpacing', number: tickSpacing } as const,
      ]
    },
  )
  const expected = expectations(chain, quote, listed.codeHashes)
  return contractFindings(client, { ...expected, values: [...symbols, ...pools] })
}

/** Feeds whose last answer is older than their heartbeat. An address without a feed contract is in `findings` already. */
async function staleFeeds(
  { chain, client, quote }: CheckedChain,
  findings: readonly ChainFinding[],
): Promise<readonly ChainFinding[]> {
  const feeds = feedsOn(chain.key, quote)
  // On a wrong network, or without multicall3, no feed can be read.
  const isReadable = !findings.some(
    ({ kind, setting }) => kind === 'network' || setting.endsWith('.multicall3'),
  )
  if (feeds.length === 0 || !isContractChain(chain.config) || !isReadable) return []
  const { multicall3 } = chain.config
  const ages = await readFeedAges(client, { multicall3, feeds: feeds.map(({ feed }) => feed) })
  const missing = new Set(findings.filter(({ kind }) => kind === 'contract').map(({ value }) => value))
  return feeds.flatMap(({ feed: { address, heartbeatSeconds }, setting }, index): readonly ChainFinding[] => {
    const { ageSeconds, isFresh = false } = ages[index] ?? {}
    if (isFresh || missing.has(address)) return []
    const answer = ageSeconds === undefined ? 'no answer that counts' : `last answer ${ageSeconds} s ago`
    const problem = `${setting}: ${answer}`
    return [{ kind: 'heartbeatSeconds', setting, value: `${heartbeatSeconds}`, said: answer, problem }]
  })
}

/** A finding's setting names a file and a member of it, e.g. `quote: chains.base.multicall3`. */
function mistakeOf(finding: ChainFinding, checked: CheckedChain): Mistake {
  const { kind, setting, value, said } = finding
  const [file = '', path = ''] = setting.split(': ')
  return {
    file: `${file}.${checked.quote.environment}.json`,
    path: memberKinds.has(kind) ? `${path}.${kind}` : path,
    value,
    said,
    fix: fixOf(finding, checked),
  }
}

/** Kinds of findings that are named like a member of the file, beside the contract's address there. */
const memberKinds: ReadonlySet<ChainFinding['kind']> = new Set([
  'description',
  'decimals',
  'heartbeatSeconds',
  'symbol',
  'token0',
  'token1',
  'fee',
  'tickSpacing',
  'factory',
  'tokenProgram',
])

function fixOf({ kind, setting, value }: ChainFinding, checked: CheckedChain): string {
  const { key } = checked.chain
  const compare = `Compare the address with its source (${sourceOf(setting, checked)})`
  switch (kind) {
    case 'network':
      return `Name endpoints of ${key} alone in ${endpointsVariable(key)}.`
    case 'code':
      return setting.endsWith('.depository')
        ? 'Correct the address; where this code is meant, record its hash in codeHashes of the chain.'
        : `Deploy it: causeway contracts deploy --chain ${key}; where this code is meant, record its hash in codeHashes of the chain.`
    case 'contract':
      return `${compare}: nothing of the kind stands there.`
    case 'guardianSet':
      return 'Compare with what Pyth publishes, and list that set: prices are a check of the endpoints that say this.'
    case 'heartbeatSeconds':
      return `${compare}, and the heartbeat with what is published; a feed that stands still is replaced.`
    case 'factory':
      return 'Take the pool out: anybody can make a contract that says it is one.'
    case 'vaultAccount':
      return `Make the account ${value}, or take the currency out.`
    case 'refusal':
      return 'Take the currency out: what is sent is not what arrives.'
    default:
      return `${compare}; where it is right, write what the chain says.`
  }
}

function endpointsVariable(key: string): string {
  return `${key.toUpperCase().replaceAll('-', '_')}_RPC_URL`
}

/** Documented source of a configured address, for the fix. */
function sourceOf(setting: string, { chain: { key }, quote }: CheckedChain): string {
  const config = quote.chains[key]
  const namesCurrency = (...names: readonly string[]) =>
    names.some((name) => setting === `quote: chains.${key}.currencies.${name}`)
  const currency = config?.currencies.find(({ symbol, address }) => namesCurrency(symbol, address))
  const feed = feedsOn(key, quote).find((feedOnChain) => feedOnChain.setting === setting)?.feed
  const exchange = setting.includes('.uniswapV3.') ? config?.uniswapV3 : undefined
  return (currency ?? feed ?? exchange)?.source ?? 'the documentation of who made it'
}

function outputOf(report: {
  readonly checked: readonly string[]
  /** Chains for which today's date was written. */
  readonly dated: readonly string[]
  readonly unread: readonly { readonly chain: string; readonly variables: readonly string[] }[]
  readonly mistakes: readonly Mistake[]
  readonly toFillIn: readonly Placeholder[]
}): Output {
  const { checked, dated, unread, mistakes, toFillIn } = report
  if (toFillIn.length > 0) {
    const places = toFillIn.flatMap(({ place, words, fix }) => [`${place}: ${words}`, `  ${fix}`])
    const count = `${counted(toFillIn.length, 'place')} to fill in, so nothing was checked.`
    return { data: report, lines: [...places, count], isFailure: true }
  }
  const skipped = unread.map(
    ({ chain, variables }) =>
      `Not checked: ${chain}, without endpoint (${variables.join(', ') || 'httpRpcUrl'}).`,
  )
  const blocks = mistakes.flatMap(({ file, path, value, said, fix }) => [
    `${file}: ${path}`,
    `  configured: ${value}`,
    `  the chain says: ${said}`,
    `  ${fix}`,
  ])
  const summary =
    checked.length === 0
      ? 'No chain has an endpoint, so nothing was checked.'
      : `Findings: ${mistakes.length}, on ${checked.join(', ')}.`
  return {
    data: report,
    lines: [...blocks, ...skipped, ...(dated.length > 0 ? [`Dated: ${dated.join(', ')}.`] : []), summary],
    isFailure: mistakes.length > 0 || checked.length === 0,
  }
}
