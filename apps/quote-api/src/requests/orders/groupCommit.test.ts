import { describe, expect, test } from 'vitest'
import { createGroupCommit } from './groupCommit.ts'

/** A store whose writes end when the test says so. */
function controlled(
  options: {
    groupMax?: number
    secondGroupMin?: number
    queueMax?: number
    fails?: (items: readonly number[]) => Error | undefined
  } = {},
) {
  const groups: number[][] = []
  const open: (() => void)[] = []
  const commit = createGroupCommit<number, string>({
    write: async (items) => {
      groups.push([...items])
      const error = options.fails?.(items)
      if (error !== undefined) throw error
      await new Promise<void>((resolve) => open.push(resolve))
      return items.map((item) => `wrote ${item}`)
    },
    mayRetryAlone: (error) => error instanceof RangeError,
    groupMax: options.groupMax ?? 256,
    ...(options.secondGroupMin !== undefined && { secondGroupMin: options.secondGroupMin }),
    queueMax: options.queueMax ?? 100,
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const release = async () => {
    open.shift()?.()
    await turn()
  }
  return { commit, groups, release, turn }
}

describe('group commit', () => {
  test('writes one turn of the event loop together and folds what arrives meanwhile', async () => {
    const { commit, groups, release, turn } = controlled()
    const settled: number[] = []
    const add = (item: number) => commit.add(item).then(() => settled.push(item))
    const done = [add(1), Promise.resolve().then(() => add(2))]
    await turn()
    expect(groups).toEqual([[1, 2]])
    done.push(add(3), add(4))
    await turn()
    expect([groups, settled]).toEqual([[[1, 2]], []])
    await release()
    expect(settled).toEqual([1, 2])
    expect(groups).toEqual([
      [1, 2],
      [3, 4],
    ])
    await release()
    await Promise.all(done)
    expect(settled).toEqual([1, 2, 3, 4])
  })

  test('writes anew after it was idle', async () => {
    const { commit, groups, release, turn } = controlled()
    for (const item of [1, 2]) {
      const done = commit.add(item)
      await turn()
      await release()
      await done
    }
    expect(groups).toEqual([[1], [2]])
  })

  test('writes a second group beside the first once it is worth a commit, and no third', async () => {
    const { commit, groups, release, turn } = controlled({ secondGroupMin: 2 })
    const settled: number[] = []
    const add = (item: number) => commit.add(item).then(() => settled.push(item))
    const done = [add(1)]
    await turn()
    done.push(add(2))
    await turn()
    expect(groups).toEqual([[1]])
    done.push(add(3))
    await turn()
    expect(groups).toEqual([[1], [2, 3]])
    done.push(add(4), add(5), add(6))
    await turn()
    expect(groups).toHaveLength(2)
    await release()
    expect([groups[2], settled]).toEqual([[4, 5, 6], [1]])
    await release()
    await release()
    await Promise.all(done)
    expect(settled).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('never makes a group larger than its limit', async () => {
    const { commit, groups, release, turn } = controlled({ groupMax: 2 })
    const done = [1, 2, 3, 4, 5].map((item) => commit.add(item))
    await turn()
    for (let index = 0; index < 3; index += 1) await release()
    await Promise.all(done)
    expect(groups).toEqual([[1, 2], [3, 4], [5]])
  })

  test('refuses past its queue and loses nobody who was admitted', async () => {
    const { commit, release, turn } = controlled({ queueMax: 2 })
    const first = commit.add(1)
    await turn()
    const admitted = [first, commit.add(2), commit.add(3)]
    await expect(commit.add(4)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
    await release()
    await release()
    await Promise.all(admitted)
  })

  test('a bad member fails alone', async () => {
    const fails = (items: readonly number[]) => (items.includes(3) ? new RangeError('bad') : undefined)
    const { commit, release } = controlled({ fails })
    const outcomes = Promise.allSettled([1, 2, 3, 4].map((item) => commit.add(item)))
    for (let index = 0; index < 8; index += 1) await release()
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })

  test('a lost server fails the group at once, and later writes are tried anew', async () => {
    let lost = true
    const { commit, groups, release, turn } = controlled({
      fails: () => (lost ? new Error('gone') : undefined),
    })
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => commit.add(item)))
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(groups).toEqual([[1, 2, 3]])
    lost = false
    const later = commit.add(9)
    await turn()
    await release()
    await later
  })

  test('everybody learns what became of their own item', async () => {
    const { commit, release, turn } = controlled({ groupMax: 2 })
    const outcomes = Promise.all([5, 6, 7].map((item) => commit.add(item)))
    await turn()
    await release()
    await release()
    expect(await outcomes).toEqual(['wrote 5', 'wrote 6', 'wrote 7'])
  })
})
