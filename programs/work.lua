-- SPDX-License-Identifier: GPL-2.0
-- Strings, tables, sorting and the collector. The answers are worked out again
-- by programs/workloads.py.

-- A generator of our own, so that both sides have the same numbers.
local state = 1
local function random()
	state = (state * 1103515245 + 12345) % 2147483648
	return state
end

-- One long string, that grows by doubling, and then by parts.
local text = "0123456789abcdef"
while #text < 1024 * 1024 do
	text = text .. text
end
print("text", #text, text:sub(-4))
local parts = {}
for i = 1, 40000 do
	parts[i] = ("%d:%x;"):format(i, i * 7)
end
local joined = table.concat(parts)
print("joined", #joined, select(2, joined:gsub("7", "")))

-- A large table of numbers, sorted.
local numbers = {}
for i = 1, 30000 do
	numbers[i] = random()
end
table.sort(numbers)
print("sorted", numbers[1], numbers[15000], numbers[30000])

-- Many small tables, most of which are garbage at once.
local kept, sum = {}, 0
for i = 1, 60000 do
	local row = { id = i, name = "row" .. i, value = random() % 1000 }
	sum = sum + row.value
	if i % 100 == 0 then
		kept[#kept + 1] = row
	end
end
collectgarbage()
local rest = 0
for _, row in ipairs(kept) do
	rest = rest + row.value + #row.name
end
print("rows", sum, #kept, rest)

-- Words counted by name.
local count = {}
for i = 1, 50000 do
	local word = "w" .. random() % 5000
	count[word] = (count[word] or 0) + 1
end
local names = {}
for word in pairs(count) do
	names[#names + 1] = word
end
table.sort(names)
print("words", #names, names[1], count[names[1]], names[#names], count[names[#names]])
