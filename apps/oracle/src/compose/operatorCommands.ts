import { ConfigurationError } from '@causeway/core'
import { createHeldStore, createOperatorAudit, describeAudit } from '@causeway/signer'
import { createHaltStore } from '../halt/haltStore.ts'

const usage = 'Usage: halted list | halted clear <chain> | held list | held release <id> | audit list'

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
  const audit = createOperatorAudit(stateDirectory)
  const isCleared = await audit.record({ action: 'halted.clear', subject: chain }, () => store.clear(chain))
  if (isCleared) return `${chain} is not halted any more.`
  throw new ConfigurationError(`${chain} is not halted in STATE_DIR.`)
}

const heldUsage = 'Usage: held list | held release <id>'

/**
 * The operator's view of what is held at a signing cap. What is released is signed when it is asked for again,
 * once and exactly as it was reviewed, whatever the cap says; it uses up nothing of the cap.
 * @returns what to print
 * @throws ConfigurationError for an unknown command or a malformed id
 */
export async function runHeldCommand(
  words: readonly string[],
  stateDirectory: string | undefined,
): Promise<string> {
  const [topic, action, id, ...rest] = words
  if (topic !== 'held' || rest.length > 0) throw new ConfigurationError(heldUsage)
  if (stateDirectory === undefined || stateDirectory === '') {
    throw new ConfigurationError('STATE_DIR is not set: without it nothing that is held can be released.')
  }
  const store = createHeldStore(stateDirectory)
  if (action === 'list' && id === undefined) {
    const held = await store.list()
    if (held.size === 0) return 'Nothing is held.'
    return [...held]
      .map(([heldId, record]) => {
        if (record === undefined) return `${heldId}: its file cannot be read`
        const { kind, key, lets, reason, since } = record
        return `${heldId}: ${kind} ${key} lets out ${lets.join(' and ')} (${reason}, since ${since})`
      })
      .join('\n')
  }
  if (action !== 'release' || id === undefined) throw new ConfigurationError(heldUsage)
  let wasListed = false
  await createOperatorAudit(stateDirectory).record({ action: 'held.release', subject: id }, async () => {
    wasListed = await store.release(id)
    return true
  })
  const note = wasListed ? '' : ' It is not listed here: check the id.'
  return `${id} is signed when it is asked for again.${note}`
}

/** What operators changed here. @throws ConfigurationError for other words, or without `STATE_DIR` */
export async function runAuditCommand(
  words: readonly string[],
  stateDirectory: string | undefined,
): Promise<string> {
  if (words.join(' ') !== 'audit list') throw new ConfigurationError('Usage: audit list')
  if (stateDirectory === undefined || stateDirectory === '') {
    throw new ConfigurationError('STATE_DIR is not set: without it no command changes anything.')
  }
  return describeAudit(await createOperatorAudit(stateDirectory).list())
}
