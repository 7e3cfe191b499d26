import { ConfigurationError } from '@causeway/core'
import { createHaltStore } from './haltStore.ts'

const usage = 'Usage: halted list | halted clear <chain> | held list | held release <id>'

/**
 * The operator's view of halts in `STATE_DIR`. A running oracle notices a cleared marker at its next
 * check and reads the chain anew before it signs.
 * @returns what to print
 * @throws ConfigurationError for an unknown command or a chain that is not halted
 */
export async function runHaltedCommand(
  words: readonly string[],
  stateDirectory: string | undefined,
): Promise<string> {
  const [topic, action, chain, ...rest] = words
  if (topic !== 'halted' || rest.length > 0) throw new ConfigurationError(usage)
  if (stateDirectory === undefined || stateDirectory === '') {
    throw new ConfigurationError('STATE_DIR is not set: without it a halt ends with the process.')
  }
  const store = createHaltStore(stateDirectory)
  if (action === 'list' && chain === undefined) {
    const halted = await store.load()
    if (halted.size === 0) return 'No chain is halted.'
    return [...halted]
      .map(([chainId, contradiction]) => {
        if (contradiction === undefined) return `${chainId}: the marker cannot be read`
        const { blockNumber, knownHash, foundHash = 'no block' } = contradiction
        return `${chainId}: block ${blockNumber} was ${knownHash} and is ${foundHash}`
      })
      .join('\n')
  }
  if (action !== 'clear' || chain === undefined) throw new ConfigurationError(usage)
  if (await store.clear(chain)) return `${chain} is not halted any more.`
  throw new ConfigurationError(`${chain} is not halted in STATE_DIR.`)
}
