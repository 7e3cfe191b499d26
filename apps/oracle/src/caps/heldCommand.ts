import { ConfigurationError } from '@causeway/core'
import { createHeldStore } from './heldStore.ts'

const usage = 'Usage: held list | held release <id>'

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
  if (topic !== 'held' || rest.length > 0) throw new ConfigurationError(usage)
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
  if (action !== 'release' || id === undefined) throw new ConfigurationError(usage)
  const wasListed = await store.release(id)
  const note = wasListed ? '' : ' It is not listed here: check the id.'
  return `${id} is signed when it is asked for again.${note}`
}
