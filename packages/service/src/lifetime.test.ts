// Goal: a service ends in one order, whoever made what when, and ends all of it. Attackers: a part that cannot be closed, a
// start that goes on while the service ends. Method: parts of this test, which say when they are closed.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLifetime, type Ending, type Stage, stages } from './lifetime.ts'

function create() {
  const closed: string[] = []
  const failed: unknown[] = []
  const lifetime = createLifetime({
    // CAST: of the logger the fields of a line matter alone.
    error: ((line: { closer: string }) => failed.push(line.closer)) as never,
  })
  const add = (stage: Stage, name: string, more: () => unknown = () => undefined) =>
    lifetime.onClose(stage, name, async () => {
      await sleep(1)
      closed.push(name)
      await more()
    })
  return { ...lifetime, add, closed, failed }
}

test('O-131: stages end one after the other, whatever the order of making; in a stage what was made last ends first', async () => {
  const { add, close, closed } = create()
  for (const stage of ['state', 'operations', 'jobs', 'listeners', 'connections'] as const) {
    add(stage, `${stage} 1`)
    add(stage, `${stage} 2`)
  }
  expect(await close()).toBe(0)
  expect(closed).toEqual(stages.flatMap((stage) => [`${stage} 2`, `${stage} 1`]))
})

test('O-131: a part that cannot be closed is named, and keeps no later one from closing', async () => {
  const { add, close, closed, failed } = create()
  add('state', 'database')
  add('jobs', 'broken', () => {
    throw new Error('cannot close')
  })
  add('jobs', 'rounds')
  expect(await close()).toBe(1)
  expect(closed).toEqual(['rounds', 'broken', 'database'])
  expect(failed).toEqual(['broken'])
})

test('O-131: a service ends once, and whoever asks again waits for the same end', async () => {
  const { add, close, closed } = create()
  add('state', 'database')
  expect(await Promise.all([close(), close()])).toEqual([0, 0])
  expect(closed).toEqual(['database'])
})

test('O-132: what a start makes while the service ends is closed in its stage, or at once where that is over', async () => {
  const { add, close, closed } = create()
  add('jobs', 'first job', () => {
    add('listeners', 'late listener', () => sleep(50))
    add('jobs', 'second job')
    add('state', 'late database')
  })
  add('connections', 'chains')
  await close()
  expect(closed).toHaveLength(5)
  expect(closed.filter((name) => name !== 'late listener')).toEqual([
    'first job',
    'second job',
    'chains',
    'late database',
  ])
})

test('O-131: the types refuse an end in a stage that a part is not of', () => {
  const startJob = ({ onClose }: Ending<'jobs'>) => {
    onClose('jobs', 'rounds', () => undefined)
    // @ts-expect-error A job that ended with the connections would run on while they close.
    onClose('connections', 'rounds', () => undefined)
  }
  const openChains = ({ onClose }: Ending<'connections'>) => onClose('connections', 'chains', () => undefined)
  const { onClose } = create()
  startJob({ onClose })
  const forJobs: Ending<'jobs'> = { onClose }
  // @ts-expect-error What may make jobs alone cannot be handed on to what opens connections.
  openChains(forJobs)
  // @ts-expect-error There is no such stage.
  onClose('later', 'rounds', () => undefined)
})
