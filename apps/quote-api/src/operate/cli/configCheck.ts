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
import type { ChainsContext, Command, Output } from './command.ts'
import { dateChains } from './dateChains.ts'
import { guardianMistakes } from './guardianSets.ts'

/** No order is signed here, so there is no signer whose address could be a foreign one. */
const zeroAddress = `0x${'0'.repeat(40)}`

/** A value of the configuration that is wrong by what a chain says, and what mends it. */
type Mistake = {
  readonly file: string
  readonly path: string
  readonly value: string
  readonly said: string
  readonly fix: string
}

/** A place of a file that is still to be filled in, e.g. `chains.own.prod.json: chains[0].depository`. */
type Placeholder = { readonly place: string; readonly words: string; readonly fix: string }

type Place = {
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
    async runOnChains(context, args) {
      const toFillIn = await placesToFillIn(context)
      if (toFillIn.length > 0) return outputOf({ checked: [], dated: [], unread: [], mistakes: [], toFillIn })
      const isDated = args.isOn('against-chain')
      const { chains, quote } = await loadFiles(context.config, context.variables, zeroAddress)
      const registry = createRegistry(quote, [...chains.chains.values()])
      const unread: { readonly chain: string; readonly variables: readonly string[] }[] = []
      const places: Place[] = []
      for (const chain of registry.chains) {
        const listed = chains.chains.get(chain.key)
        const client = listed && connectQuotingChain(listed)
        if (listed !== undefined && client !== undefined) places.push({ chain, listed, client, quote })
        else unread.push({ chain: chain.key, variables: listed?.unsetVariables ?? [] })
      }
      try {
        const mistakesByPlace = await Promise.all(places.map((place) => mistakesOf(place, context, isDated)))
        const agreeingPlaces = places.filter((_, index) => mistakesByPlace[index]?.length === 0)
        const keys = agreeingPlaces.map(({ chain }) => chain.key)
        const dated = isDated ? await dateFile(keys, context) : []
        return outputOf({
          ...{ checked: places.map(({ chain }) => chain.key), dated },
          unread,
          mistakes: mistakesByPlace.flat(),
          toFillIn,
        })
      } finally {
        await Promise.all(places.map(({ client }) => client.close()))
      }
    },
  },
]

/** Places to fill in of all files of the environment that are there, those of other services too. */
async function placesToFillIn({ config }: ChainsContext): Promise<readonly Placeholder[]> {
  const findings = createFindings()
  const { environment, configDirectory: directory } = config
  // The service that reads a file tells what else is wrong with it.
  await readEnvironmentFiles({ directory, environment }, environmentFileNames, findings)
  return findings.list.flatMap(({ code, setting, seen, fix }) =>
    code === 'configuration-unfilled' ? [{ place: setting, words: seen, fix }] : [],
  )
}

/** Writes today into the quote file for chains that agree with it. @returns those that have dated facts */
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
  place: Place,
  { config }: ChainsContext,
  withGuardians: boolean,
): Promise<readonly Mistake[]> {
  const { chain, listed, client } = place
  const { environment } = config
  try {
    const findings = isContractChain(chain.config)
      ? await contractMistakes(place)
      : await networkContradictions(listed, chain.config, client, isOnThisMachine(environment))
    const stale = await staleFeeds(place, findings)
    const guardians = withGuardians ? await guardianMistakes(chain.key, client, place.quote) : []
    return [...findings, ...stale, ...guardians].map((finding) => mistakeOf(finding, place))
  } catch (error) {
    if (!(error instanceof DomainError) && !(error instanceof NodeError)) throw error
    const [file, path] = [`chains.${environment}.json`, `${chain.key}.httpRpcUrl`]
    const fix = 'Name endpoints that answer, of more than one provider.'
    return [{ file, path, value: `endpoints: ${listed.endpoints.length}`, said: error.message, fix }]
  }
}

/** Contradictions between files and contracts: those that a start checks, and those of tokens and pools. */
function contractMistakes({ chain, listed, client, quote }: Place): Promise<readonly ChainFinding[]> {
  const { key, currencies, quoting } = chain
  const { uniswapV3 } = contractChain(chain.config)
  const symbols = [...currencies.values()]
    .filter(({ isNative }) => !isNative)
    .map(({ symbol, address }) => ({
      ...{ setting: `quote: chains.${key}.currencies.${symbol}`, address: quoting.hexAddress(address) },
      ...({ getter: 'symbol', text: symbol } as const),
    }))
  const pools = (uniswapV3?.pools ?? []).flatMap(
    ({ address, token0, token1, feePips, tickSpacing }, index) => {
      const at = { setting: `quote: chains.${key}.uniswapV3.pools[${index}]`, address }
      return [
        ...(uniswapV3 === undefined ? [] : [{ ...at, getter: 'factory', word: uniswapV3.factory } as const]),
        { ...at, getter: 'token0', word: token0 } as const,
        { ...at, getter: 'token1', word: token1 } as const,
        { ...at, getter: 'fee', number: feePips } as const,
        { ...at, getter: 'tickSpacing', number: tickSpacing } as const,
      ]
    },
  )
  const expected = expectations(chain, quote, listed.codeHashes)
  return contractFindings(client, { ...expected, values: [...symbols, ...pools] })
}

/** Feeds whose last answer is older than their heartbeat; of those that are none, more is known already. */
async function staleFeeds(
  { chain, client, quote }: Place,
  findings: readonly ChainFinding[],
): Promise<readonly ChainFinding[]> {
  const placed = feedsOn(chain.key, quote)
  const isRead = !findings.some(({ kind, setting }) => kind === 'network' || setting.endsWith('.multicall3'))
  if (placed.length === 0 || !isContractChain(chain.config) || !isRead) return []
  const { multicall3 } = chain.config
  const ages = await readFeedAges(client, { multicall3, feeds: placed.map(({ feed }) => feed) })
  const missing = new Set(findings.filter(({ kind }) => kind === 'contract').map(({ value }) => value))
  return placed.flatMap(
    ({ feed: { address, heartbeatSeconds }, setting }, index): readonly ChainFinding[] => {
      const { ageSeconds, isFresh = false } = ages[index] ?? {}
      if (isFresh || missing.has(address)) return []
      const answer = ageSeconds === undefined ? 'no answer that counts' : `last answer ${ageSeconds} s ago`
      const problem = `${setting}: ${answer}`
      return [{ kind: 'heartbeatSeconds', setting, value: `${heartbeatSeconds}`, said: answer, problem }]
    },
  )
}

/** `quote: chains.base.multicall3` names a file and a place in it. */
function mistakeOf(finding: ChainFinding, place: Place): Mistake {
  const { kind, setting, value, said } = finding
  const [file = '', path = ''] = setting.split(': ')
  return {
    file: `${file}.${place.quote.environment}.json`,
    path: memberKinds.has(kind) ? `${path}.${kind}` : path,
    ...{ value, said, fix: fixOf(finding, place) },
  }
}

/** Findings about a contract's own fact, whose member stands beside the address in the file. */
const memberKinds: ReadonlySet<ChainFinding['kind']> = new Set([
  ...(['description', 'decimals', 'heartbeatSeconds', 'symbol'] as const),
  ...(['token0', 'token1', 'fee', 'tickSpacing', 'factory', 'tokenProgram'] as const),
])

function fixOf({ kind, setting, value }: ChainFinding, place: Place): string {
  const { key } = place.chain
  const compare = `Compare the address with its source (${sourceOf(setting, place)})`
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
function sourceOf(setting: string, { chain: { key }, quote }: Place): string {
  const config = quote.chains[key]
  const isOf = (...names: readonly string[]) =>
    names.some((name) => setting === `quote: chains.${key}.currencies.${name}`)
  const currency = config?.currencies.find(({ symbol, address }) => isOf(symbol, address))
  const feed = feedsOn(key, quote).find((placed) => placed.setting === setting)?.feed
  const exchange = setting.includes('.uniswapV3.') ? config?.uniswapV3 : undefined
  return (currency ?? feed ?? exchange)?.source ?? 'the documentation of who made it'
}

function outputOf(report: {
  readonly checked: readonly string[]
  /** Into whose facts today was written. */
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
