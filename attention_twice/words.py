"""Every word the program says, in both languages."""

from __future__ import annotations

import locale
import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

LANGUAGES = ("en", "zh-Hant")


# Every word the program says, in both languages; a line is a sentence.
WORDS: dict[str, tuple[str, str]] = {
    "title": (
        "Attention, written twice",
        "注意力，寫兩遍",
    ),
    "poem": (
        "The tokens are five characters of a poem by Li Bai: {tokens}",
        "詞元（token）是李白〈靜夜思〉的五個字：{tokens}",
    ),
    "both": (
        "Each number is computed twice, by NumPy and by PyTorch {version}.",
        "每個數字都算兩遍：NumPy 一遍，PyTorch {version} 一遍。",
    ),
    "numpy": ("Computed by NumPy.", "由 NumPy 計算。"),
    "torch": (
        "Computed by PyTorch {version}.",
        "由 PyTorch {version} 計算。",
    ),
    "no torch": (
        "PyTorch is not installed here, so NumPy computes alone.",
        "這裡沒有安裝 PyTorch，所以只由 NumPy 計算。",
    ),
    "zero": ("· is exactly 0.", "· 表示恰好是 0。"),
    "difference": (
        "Largest difference between NumPy and PyTorch: {largest:.1e}",
        "NumPy 與 PyTorch 最多相差 {largest:.1e}",
    ),
    "sdpa": (
        "Largest difference from PyTorch's scaled_dot_product_attention:",
        "與 PyTorch 的 scaled_dot_product_attention 最多相差：",
    ),
    "no sdpa": (
        "Compare it with PyTorch's scaled_dot_product_attention: --impl both",
        "要與 PyTorch 的 scaled_dot_product_attention 比較：--impl both",
    ),
    "no torch sdpa": (
        "Install torch to compare it with PyTorch's own function:\n"
        ".venv/bin/python -m pip install torch",
        "安裝 torch 就能與 PyTorch 內建的函式比較：\n"
        ".venv/bin/python -m pip install torch",
    ),
    "section 1": (
        "1  Averaging: every position trusts its whole past equally",
        "1  平均：每個位置對過去一視同仁",
    ),
    "text 1": (
        "Each position takes the mean of itself and all before it.\n"
        "All means at once are one product: a lower-triangular matrix of\n"
        "weights times x.",
        "每個位置取自己和之前所有位置的平均。\n"
        "一次矩陣乘法就算出所有平均：下三角的權重矩陣乘以 x。",
    ),
    "row 3": ("row 3 of the product", "乘積的第 3 列"),
    "mean of 3": ("mean of the first three", "前三個向量的平均"),
    "section 2": (
        "2  Query and key: weights that depend on what is there",
        "2  查詢與鍵：權重取決於內容",
    ),
    "text 2": (
        "{token} asks with its query {query}; each token offers a key.\n"
        "The dot product of query and key is a score, and softmax turns the\n"
        "scores into weights that sum to one. Scores × 5 keep their order\n"
        "but lie further apart, and the weights get sharper.",
        "「{token}」用查詢 {query} 發問，每個字用自己的鍵回應。\n"
        "查詢與鍵的內積是分數，softmax 再把分數變成總和為一的權重。\n"
        "分數都乘以 5，順序不變、差距變大，權重就更集中。",
    ),
    "key 0": ("key: light", "鍵：光亮"),
    "key 1": ("key: place", "鍵：地點"),
    "score": ("score", "分數"),
    "weight": ("weight", "權重"),
    "sharp weight": ("weight, scores × {times:g}", "權重，分數 × {times:g}"),
    "section 3": (
        "3  Causal mask: no position sees a later one",
        "3  因果遮罩：看不到後面的位置",
    ),
    "text 3": (
        "A score that must not count becomes -inf before the softmax, and\n"
        "exp(-inf) = 0. Query and key are random here: the weights have no\n"
        "meaning until they are trained.",
        "不該算進來的分數，在 softmax 之前設為 -inf，而 exp(-inf) = 0。\n"
        "這裡的查詢與鍵是隨機的：還沒訓練，權重就沒有意義。",
    ),
    "section 4": (
        "4  Dividing by √d: scores that do not grow with the width",
        "4  除以 √d：分數不隨維度變大",
    ),
    "text 4": (
        "The dot product of two random vectors of width d, of mean 0 and\n"
        "variance 1, has standard deviation √d. Undivided, the greatest\n"
        "weight of a row nears 1: the softmax is saturated, and hardly any\n"
        "gradient passes through it. The weights below are means over five\n"
        "rows of one random draw, so they wobble.",
        "兩個 d 維隨機向量（各分量平均 0、變異數 1）的內積，標準差是 √d。\n"
        "不除的話，每列最大的權重會接近 1：softmax 飽和，梯度幾乎傳不過去。\n"
        "下面的權重只取自一次隨機抽樣，是五列的平均，所以會有起伏。",
    ),
    "deviation": ("standard deviation", "標準差"),
    "unscaled": ("undivided", "不除"),
    "scaled": ("divided", "除以 √d"),
    "columns 4": (
        "Standard deviation of q·k; greatest weight, undivided and divided:",
        "q·k 的標準差；不除與除以 √d 時的最大權重：",
    ),
    "section 5": ("5  One complete head", "5  一個完整的注意力頭"),
    "text 5": (
        "Three matrices make query, key and value out of x: what asks, what\n"
        "is found, and what is given. Training learns these three matrices.\n"
        "The output of a position is the sum of all values, each times its\n"
        "weight.",
        "三個矩陣把 x 變成查詢、鍵與值：拿什麼去問、靠什麼被找到、給出什麼。\n"
        "訓練時學的，就是這三個矩陣。\n"
        "每個位置的輸出，就是各個值乘上權重再相加。",
    ),
    "last output": (
        "row 5 of the output, first 4 of 8",
        "輸出的第 5 列（8 個數的前 4 個）",
    ),
    "weighted values": (
        "values times the weights of 光, summed",
        "各個值乘上「光」的權重再相加",
    ),
    "shapes": (
        "x {x} → query, key, value {query} → output {output}",
        "x {x} → 查詢、鍵、值 {query} → 輸出 {output}",
    ),
    "cost": (
        "The table of scores is T × T: twice the length, four times the\n"
        "table. Exercise 3 measures it.",
        "分數表的大小是 T × T：長度加倍，表就變四倍。練習 3 會實際量一量。",
    ),
    "next": (
        "Go on: .venv/bin/python attention.py exercise 1 (or 2, 3), or quiz",
        "接下來：.venv/bin/python attention.py exercise 1（或 2、3），或 quiz",
    ),
    "exercise 1": (
        "Exercise 1  Another query for {token}",
        "練習 1  替「{token}」換一個查詢",
    ),
    "text e1": (
        "The query of {token} was {before}; now it is {after}.\n"
        "The keys are the same, so only the question has changed.\n"
        "Try your own: exercise 1 --query 0.5 0.5",
        "「{token}」的查詢本來是 {before}，現在是 {after}。\n"
        "鍵沒有變，變的只是問題。\n"
        "自己試試：exercise 1 --query 0.5 0.5",
    ),
    "weight before": ("weight before", "原來的權重"),
    "change": ("change", "增減"),
    "exercise 2": (
        "Exercise 2  The head without its causal mask",
        "練習 2  拿掉因果遮罩的注意力頭",
    ),
    "text e2": (
        "With the mask (above) and without it (below): every position now\n"
        "sees the whole line. The last row had seen it all before.",
        "上面有遮罩，下面沒有：每個位置都看得到整句。\n最後一列本來就看得到全部，所以不變。",
    ),
    "exercise 3": (
        "Exercise 3  What length costs",
        "練習 3  長度的代價",
    ),
    "text e3": (
        "One causal head of width {width}, float32; the median of {runs} "
        "runs, after one\nto warm up. "
        "Try your own: exercise 3 --lengths 500 1000 2000",
        "一個 {width} 維的因果注意力頭，float32；"
        "先暖身一次，再取 {runs} 次的中位數。\n"
        "自己試試：exercise 3 --lengths 500 1000 2000",
    ),
    "text e3 torch": (
        "PyTorch runs the head written out step by step here, not its fused\n"
        "function.",
        "PyTorch 在這裡執行的是逐步寫出的注意力頭，"
        "不是它的融合（fused）函式。",
    ),
    "table": ("table, MiB", "分數表（MiB）"),
    "time": ("{name}, ms", "{name}（ms）"),
    "exponent": ("exponent", "指數"),
    "text exponent": (
        "Time grows as T to the power of the exponent; the table as T².",
        "時間與 T 的「指數」次方成正比；分數表與 T² 成正比。",
    ),
    "timing": ("timing", "計時"),
    "quiz": ("Three questions", "三個問題"),
    "show": ("Press Enter for the answer.", "按 Enter 看答案。"),
    "answers": (
        "The answers: .venv/bin/python attention.py quiz --answers",
        "看答案：.venv/bin/python attention.py quiz --answers",
    ),
    "question 1": (
        "1  What do query, key and value each do?",
        "1  查詢、鍵、值各做什麼？",
    ),
    "answer 1": (
        "The query asks, the key is what the query is compared with, and the\n"
        "value is what is handed over. In section 2 {token}'s query with the\n"
        "key of {best} scores {score:.2f}: in a head with these weights "
        "{weight:.0%} of what\n{token} gathers would be the value of {best}. "
        "Values have no say in the weights.",
        "查詢負責發問，鍵拿來與查詢比對，值是真正交出去的內容。\n"
        "在第 2 節，「{token}」的查詢對「{best}」的鍵得 {score:.2f} 分："
        "注意力頭若用這些權重，\n「{token}」收到的內容就有 {weight:.0%} "
        "來自「{best}」的值。值完全不影響權重。",
    ),
    "question 2": (
        "2  How is the causal mask made, and why before the softmax?",
        "2  因果遮罩怎麼做？為什麼要在 softmax 之前？",
    ),
    "answer 2": (
        "Below and on the diagonal scores stay, above it they become -inf:\n"
        "a position is trained to predict what comes next and must not see\n"
        "it. After the softmax it would be too late: setting weights to 0\n"
        "there leaves row 1 of section 3 with a sum of {late:.2f}; "
        "before it, {early:.2f}.",
        "對角線及其下方的分數留著，上方的設為 -inf：\n"
        "每個位置要學會預測下一個字，所以不能先看到答案。\n"
        "在 softmax 之後才做就太遲了：那時把權重設為 0，第 3 節第 1 列的總和\n"
        "只剩 {late:.2f}；在之前做則是 {early:.2f}。",
    ),
    "question 3": (
        "3  Why are the scores divided by √d?",
        "3  為什麼分數要除以 √d？",
    ),
    "answer 3": (
        "A dot product adds d products, so its standard deviation grows as\n"
        "√d: for d = {d} it was {deviation:.2f}, and √d is {root:.2f}. "
        "Such scores\ngive one key nearly all, {unscaled:.2f} of the weight "
        "on average, and the\nothers hardly any gradient; divided, it is "
        "{scaled:.2f}.",
        "內積是 d 個乘積相加，標準差隨 √d 變大：d = {d} 時量到 "
        "{deviation:.2f}，而 √d 是 {root:.2f}。\n"
        "這麼大的分數會讓一個鍵幾乎獨占權重，平均占 {unscaled:.2f}，"
        "其他的鍵幾乎沒有梯度；\n除以 √d 之後是 {scaled:.2f}。",
    ),
    "wrote": ("wrote {path}", "已寫入 {path}"),
    # Help and errors.
    "help": (
        """\
.venv/bin/python attention.py [command] [options]

  (no command)              the five sections of the lesson
  exercise 1                another query for 光
  exercise 2                the head without its causal mask
  exercise 3                what length costs
  quiz                      three questions
  train                     a small model learns the poem, or --text FILE
  recall                    it learns to look back by content
  scale                     what the division by √d is for, measured

  --impl numpy|torch|both   which version computes (both);
                            train, recall, scale: one of them (numpy)
  --lang en|zh-Hant         the language (that of your locale)
  --section N ...           only these of the sections 1 to 5 (all)
  --plain                   no colour, stable text; also when the output
                            is no terminal
  --plot DIR                write each matrix as an SVG heat map to DIR
  --query A B               exercise 1: the query, two numbers (0 1)
  --lengths T ...           exercise 3: the lengths (1000 2000 4000)
  --answers                 quiz: show the answers without waiting
  --text FILE               train: any text in UTF-8 (the poem)
  --checkpoint FILE         train: where to keep what is learned, and to go
                            on from (poem.npz, or by the text's name)
  --steps N                 train: so many steps (until it knows the text,
                            at most 1000); recall: at most (1000);
                            scale: so many (400)
  --seed N                  train, recall, scale: other random numbers (0)
  -h, --help                this text""",
        """\
.venv/bin/python attention.py [指令] [選項]

  （不寫指令）              課程的五節
  exercise 1                替「光」換一個查詢
  exercise 2                拿掉因果遮罩的注意力頭
  exercise 3                長度的代價
  quiz                      三個問題
  train                     小模型學會這首詩，或 --text FILE
  recall                    學會依內容往回看
  scale                     除以 √d 有什麼用，實際量量看

  --impl numpy|torch|both   由哪個版本計算（both）；
                            train、recall、scale：其中一個（numpy）
  --lang en|zh-Hant         語言（依系統語言）
  --section N ...           只看第 1 到 5 節中的這幾節（全部）
  --plain                   不用顏色，文字固定；輸出不是終端機時也一樣
  --plot DIR                把每個矩陣畫成 SVG 熱圖，寫到 DIR
  --query A B               練習 1：查詢，兩個數字（0 1）
  --lengths T ...           練習 3：長度（1000 2000 4000）
  --answers                 問題：不等待，直接顯示答案
  --text FILE               train：任何 UTF-8 文字（這首詩）
  --checkpoint FILE         train：保存學到的東西，也從這裡接著訓練
                            （poem.npz，或用文字的檔名取名）
  --steps N                 train：走幾步（背熟為止，最多 1000 步）；
                            recall：最多幾步（1000）；
                            scale：走幾步（400）
  --seed N                  train、recall、scale：換一組隨機數（0）
  -h, --help                這份說明""",
    ),
    "bad choice": (
        "{name} is {value!r}, possible: {possible}",
        "{name} 是 {value!r}，可以用的有：{possible}",
    ),
    "no --impl": (
        "--impl needs numpy, torch or both",
        "--impl 後面要有 numpy、torch 或 both",
    ),
    "no --lang": (
        "--lang needs en or zh-Hant",
        "--lang 後面要有 en 或 zh-Hant",
    ),
    "no --section": (
        "--section needs one or more of 1 to 5",
        "--section 後面要有一或多個 1 到 5 的數字",
    ),
    "no --plot": ("--plot needs a folder", "--plot 後面要有一個資料夾"),
    "no --query": ("--query needs two numbers", "--query 後面要有兩個數字"),
    "no --lengths": (
        "--lengths needs one or more whole numbers",
        "--lengths 後面要有一或多個整數",
    ),
    "no value": (
        "{name} takes no value, but has {value!r}",
        "{name} 後面不能接值，這裡卻有 {value!r}",
    ),
    "comma": (", ", "、"),
    "or": (" or ", " 或 "),
    "bad command": (
        "{value!r} is not possible: nothing, exercise 1, exercise 2, "
        "exercise 3, quiz, train, recall or scale, without quotes",
        "不能用 {value!r}：可以不寫，或寫 exercise 1、exercise 2、"
        "exercise 3、quiz、train、recall 或 scale，不加引號",
    ),
    "no --text": ("--text needs a file", "--text 後面要有一個檔案"),
    "no --checkpoint": (
        "--checkpoint needs a file",
        "--checkpoint 後面要有一個檔案",
    ),
    "no --steps": (
        "--steps needs a whole number",
        "--steps 後面要有一個整數",
    ),
    "no --seed": ("--seed needs a whole number", "--seed 後面要有一個整數"),
    "bad seed": (
        "--seed is {value!r}, expected a whole number from 0 to 999999999",
        "--seed 是 {value!r}，應該是 0 到 999999999 的整數",
    ),
    "bad text": (
        "--text cannot read {path}: {reason}",
        "--text 無法讀取 {path}：{reason}",
    ),
    "bad utf-8": (
        "--text {path} is not UTF-8: byte {place} cannot be decoded",
        "--text {path} 不是 UTF-8：第 {place} 個位元組無法解碼",
    ),
    "short text": (
        "--text {path}: characters found: {count}, expected 2 or more",
        "--text {path} 只有 {count} 個字元，至少要有 2 個",
    ),
    "one version": (
        "{command} trains one version: --impl numpy or torch, not both",
        "{command} 只訓練一個版本：--impl 可以是 numpy 或 torch，不能是 both",
    ),
    "bad checkpoint": (
        "--checkpoint {path} is not a whole file of this command's; "
        "give another file, or take it away",
        "--checkpoint {path} 不是這個指令寫的完整檔案；"
        "請換一個檔案，或把它移走",
    ),
    "other checkpoint": (
        "--checkpoint {path} belongs to another text or seed; "
        "give another file, or take it away",
        "--checkpoint {path} 屬於另一段文字或另一個種子；"
        "請換一個檔案，或把它移走",
    ),
    "not finite": (
        "at step {step} the model's numbers are no longer finite; {path} "
        "keeps what was saved last",
        "到第 {step} 步，模型裡出現了非有限的數；{path} 還是上次保存的內容",
    ),
    "bad read": (
        "--checkpoint cannot read {path}: {reason}",
        "--checkpoint 無法讀取 {path}：{reason}",
    ),
    "bad write": (
        "--checkpoint cannot write {path}: {reason}",
        "--checkpoint 無法寫入 {path}：{reason}",
    ),
    # Training.
    "train": (
        "Training: what comes after each character",
        "訓練：每個字的後面是什麼",
    ),
    "text train": (
        "A model of {blocks} blocks with {heads} heads each, "
        "{count} numbers in all, sees the text\n"
        "again and again: {characters} characters, {kinds} different ones.",
        "模型有 {blocks} 層，每層 {heads} 個頭，共 {count} 個數字，"
        "反覆看同一段文字：\n{characters} 個字元，其中不同的有 {kinds} 個。",
    ),
    "training": ("training", "訓練中"),
    "step": (
        "step {step:>5}   loss {loss:7.4f}   {sample}",
        "第 {step:>5} 步   損失 {loss:7.4f}   {sample}",
    ),
    "resumed": (
        "Goes on from step {step}, kept in {path}.",
        "從 {path} 保存的第 {step} 步接著訓練。",
    ),
    "known": (
        "After {step} steps it knows the text by heart: after {start} "
        "it says {next}.",
        "{step} 步之後，它把整段文字背起來了：{start} 之後接 {next}。",
    ),
    "not known": (
        "After {step} steps it has {share:.0%} of the characters right.",
        "{step} 步之後，答對了 {share:.0%} 的字元。",
    ),
    "stopped": (
        "Stopped; what was learned is kept.",
        "已停止；學到的都保存下來了。",
    ),
    "kept": ("kept in {path}", "已保存到 {path}"),
    "text looks": (
        "What {token} looks at: with section 3's random query and key,\n"
        "and in each head of each block, now that they are trained.",
        "「{token}」看哪裡：先是第 3 節隨機的查詢與鍵，\n"
        "再來是訓練之後每一層的每個頭。",
    ),
    "random": ("random", "隨機"),
    "block head": ("block {block}, head {head}", "第 {block} 層，頭 {head}"),
    "train looks": ("What {token} looks at", "「{token}」看哪裡"),
    "train block": (
        "Block {block}: the mean of its heads",
        "第 {block} 層：各頭的平均",
    ),
    "recall": (
        "Looking back by content: pairs, then one of them again",
        "依內容往回看：先看幾對，再看其中一個",
    ),
    "text recall": (
        "{pairs} pairs, then the first of one of them: {example} → {answer}.\n"
        "The pairs are others every time: nothing can be learned by heart.\n"
        "Who guesses among the {pairs} partners is right {chance:.0%} of the "
        "time.",
        "{pairs} 對，接著是其中一對的第一個：{example} → {answer}。\n"
        "每次的配對都不同，背不起來。\n"
        "在 {pairs} 個裡面猜，有 {chance:.0%} 會猜中。",
    ),
    "attention": ("attention", "注意力"),
    "averaging": ("averaging (scale 0)", "平均（scale 0）"),
    "value is key": ("attention, value = key", "注意力，值 = 鍵"),
    "no scale": ("attention, without 1/√d", "注意力，不除以 √d"),
    "steps": ("steps", "步數"),
    "loss": ("loss", "損失"),
    "right": ("right", "答對"),
    "seconds": ("seconds", "秒"),
    "text found": (
        "What the last position, {asked}, looks at in each block. It finds "
        "the place\nwhere its partner {answer} stands, and takes it over.",
        "最後的位置「{asked}」在每一層看哪裡。它找到夥伴「{answer}」所在的"
        "位置，\n把它帶回來。",
    ),
    "text not found": (
        "What the last position, {asked}, looks at in each block. It has not "
        "learned to\nfind its partner {answer}: {share:.0%} are right.",
        "最後的位置「{asked}」在每一層看哪裡。它還沒學會找到夥伴「{answer}」："
        "\n答對的有 {share:.0%}。",
    ),
    "recall looks": ("What the last position looks at", "最後的位置看哪裡"),
    "block": ("block {block}", "第 {block} 層"),
    "scale": (
        "Why the scale: with 1/√d and without",
        "為什麼要縮放：除以 √d 與不除",
    ),
    "text scale": (
        "{rows} random queries and keys of width d. Entropy of the weights "
        "in nats: {most:.2f}\nis all alike, 0 is one key alone. Gradient: "
        "the norm of what comes back to a\nrow of scores.",
        "{rows} 個維度為 d 的隨機查詢與鍵。權重的熵以 nat 計：{most:.2f} 是"
        "完全相同，\n0 是只看一個鍵。梯度：傳回一列分數的量有多大。",
    ),
    "entropy": ("entropy", "熵"),
    "gradient": ("gradient", "梯度"),
    "undivided": ("undivided", "不除"),
    "text scale loss": (
        "The loss of the poem, and what is right of the pairs, after so many "
        "steps.\nA poem is learned by heart either way: positions are enough. "
        "Looking back by\ncontent is not: with seed 0 it takes 200 steps with "
        "the division, and without\nit 3000 are not enough. Other seeds take "
        "150 to 800: see --steps.",
        "這首詩的損失，以及配對答對的比例，各在多少步之後。\n"
        "詩怎樣都背得起來：靠位置就夠了。依內容往回看則不然：種子為 0 時，\n"
        "除以 √d，200 步就學會；不除，3000 步也不夠。\n"
        "換一個種子要 150 到 800 步：用 --steps。",
    ),
    "poem loss": ("poem, loss", "詩，損失"),
    "pairs right": ("pairs, right", "配對，答對"),
    "bad option": (
        "{name} is no option, possible: {possible}",
        "沒有 {name} 這個選項，可以用的有：{possible}",
    ),
    "bad place": (
        "{name} is not for this, but for: {possible}",
        "{name} 不能用在這裡，只能用在：{possible}",
    ),
    "lesson": ("the lesson", "課程本身"),
    "bad number": (
        "{name} is {value!r}, expected a finite number from -1e37 to 1e37",
        "{name} 是 {value!r}，應該是 -1e37 到 1e37 之間的數",
    ),
    "bad length": (
        "{name} is {value!r}, expected a whole number from 1 to 999999999",
        "{name} 是 {value!r}，應該是 1 到 999999999 的整數",
    ),
    "missing": (
        "{name} needs {package}, which is not installed: "
        ".venv/bin/python -m pip install {package}",
        "{name} 需要 {package}，這裡沒有安裝："
        ".venv/bin/python -m pip install {package}",
    ),
    "bad plot": (
        "--plot has nothing to draw in section 4, only in the others",
        "--plot 在第 4 節沒有東西可畫，其他各節才有",
    ),
    "bad folder": (
        "--plot cannot write to {path}: {reason}",
        "--plot 無法寫入 {path}：{reason}",
    ),
    "no room": (
        "--lengths {T}: the table of scores takes {table:.0f} MiB, with its "
        "copies {peak:.0f} MiB; {free:.0f} MiB are free, enough for {fits}",
        "--lengths {T}：分數表要 {table:.0f} MiB，連同副本要 {peak:.0f} MiB；"
        "可用的只有 {free:.0f} MiB，最長可到 {fits}",
    ),
}


class BadArgumentError(Exception):
    """What is wrong with the arguments, in one line."""


def word(lang: str, key: str, **values: Any) -> str:
    """Return the words of `key` in a language, with the values put in."""
    # A file may have any name, and the terminal is to survive it.
    shown = {
        name: visible(str(value)) if isinstance(value, Path) else value
        for name, value in values.items()
    }
    return WORDS[key][LANGUAGES.index(lang)].format(**shown)


def either(lang: str, names: Sequence[str]) -> str:
    """Return names as a list of choices: a, b or c."""
    *others, last = names
    if not others:
        return last
    return word(lang, "comma").join(others) + word(lang, "or") + last


def visible(text: str) -> str:
    """Return text with a sign in place of what moves a terminal's cursor.

    Control characters, what changes the direction of writing, line and
    paragraph separators: none may reach a terminal or an SVG.
    """
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    signs = {"\n": "⏎", "\t": "⇥"}
    return "".join(
        signs.get(c, "�") if unicodedata.category(c) in hidden else c
        for c in text
    )


def locale_language() -> str:
    """Return the language that the environment asks for."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    asked = next((os.environ[n] for n in names if os.environ.get(n)), None)
    asked = asked or locale.getlocale()[0] or ""
    chinese = asked.lower().startswith(("zh", "chinese"))
    return "zh-Hant" if chinese else "en"


def fail(lang: str, key: str, **values: Any) -> NoReturn:
    """Raise BadArgumentError with the words of `key`."""
    raise BadArgumentError(word(lang, key, **values))
